// Package geo implements geometries: parsing of GeoJSON and legacy
// coordinates, containment, intersection, distance, and the cells of
// geospatial indexes.
//
// There are two kinds of geometries. GeoJSON geometries are on the sphere and
// computed with S2; their edges are geodesics. Legacy coordinate pairs and the
// shapes $box, $center and $polygon are on a plane. Only points can be
// converted between the two.
//
// The package is for the rest of DuskDB: it may change with any version.
package geo

// EarthRadius is the radius in meters with which MongoDB converts angles to
// distances.
const EarthRadius = 6378100.0
