fn main() {
    let uri = std::env::args().nth(1).unwrap();
    let client = mongodb::sync::Client::with_uri_str(&uri).unwrap();
    println!("{:?}", client.list_database_names().run());
}
