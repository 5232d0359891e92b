// Package geo holds geometries: parsing GeoJSON and legacy coordinates,
// containment, intersection, distance, and the cells that geospatial indexes
// are made of.
//
// There are two worlds. GeoJSON lives on the sphere, computed with S2; edges
// are geodesics. Legacy coordinate pairs and the shapes $box, $center and
// $polygon live on a plane. A point can pass from one world to the other,
// other shapes cannot.
//
// The package is for the rest of DuskDB: it may change with any version.
package geo

// EarthRadius is the radius in meters with which MongoDB turns angles into
// distances.
const EarthRadius = 6378100.0
