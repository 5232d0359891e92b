//! The Rust driver: everyday work, then expiry with the clock moved by the
//! client. Each check prints one line that the Go tests read: "ok NAME" or
//! "not ok NAME: WHY".

use mongodb::bson::{doc, DateTime, Document};
use mongodb::options::IndexOptions;
use mongodb::sync::{Client, Database};
use mongodb::IndexModel;
use std::time::Duration;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn check(name: &str, outcome: Outcome) {
    match outcome {
        Ok(()) => println!("ok {name}"),
        Err(e) => println!("not ok {name}: {}", e.to_string().replace('\n', "\\n")),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(want: T, got: T) -> Outcome {
    if want == got {
        return Ok(());
    }
    Err(format!("want {want:?}, got {got:?}").into())
}

fn crud(db: &Database) -> Outcome {
    let c = db.collection::<Document>("crud");
    c.insert_many((0..500).map(|i| doc! { "_id": i, "n": i % 5 })).run()?;
    let mut n = 0;
    for d in c.find(doc! { "n": 3 }).sort(doc! { "_id": 1 }).batch_size(7).run()? {
        same(3 + 5 * n, d?.get_i32("_id")?)?;
        n += 1;
    }
    same(100, n)?;
    let up = c.update_many(doc! { "n": 1 }, doc! { "$set": { "x": "y" } }).run()?;
    same(100, up.modified_count)?;
    let got = c.find_one_and_update(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } }).run()?;
    same(Some(1), got.and_then(|d| d.get_i32("n").ok()))?;
    same(99, c.delete_many(doc! { "n": 1 }).run()?.deleted_count)
}

fn errors(db: &Database) -> Outcome {
    let c = db.collection::<Document>("errors");
    c.insert_one(doc! { "_id": 1 }).run()?;
    match c.insert_one(doc! { "_id": 1 }).run() {
        Ok(_) => Err("the duplicate was accepted".into()),
        Err(e) if e.to_string().contains("E11000") => Ok(()),
        Err(e) => Err(e.into()),
    }
}

fn aggregation(db: &Database) -> Outcome {
    let stages = vec![doc! { "$group": { "_id": null, "n": { "$sum": 1 } } }];
    let first = db.collection::<Document>("crud").aggregate(stages).run()?.next();
    same(401, first.ok_or("no group")??.get_i32("n")?)
}

fn compression(uri: &str) -> Outcome {
    let text = "expiry ".repeat(20_000);
    let c = Client::with_uri_str(format!("{uri}&compressors=snappy"))?.database("rust").collection::<Document>("z");
    c.insert_one(doc! { "text": &text }).run()?;
    let back = c.find_one(doc! {}).run()?.ok_or("nothing came back")?;
    same(text.as_str(), back.get_str("text")?)
}

fn secured(uri: &str, ca: &str) -> Outcome {
    for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-1"] {
        let client = Client::with_uri_str(format!("{uri}&tlsCAFile={ca}&authMechanism={mechanism}"))?;
        client.database("rust").collection::<Document>("secure").insert_one(doc! { "_id": mechanism }).run()?;
    }
    let wrong = uri.replace("s3cret", "wrong");
    match Client::with_uri_str(format!("{wrong}&tlsCAFile={ca}"))?.database("rust").list_collection_names().run() {
        Ok(_) => Err("the wrong password was accepted".into()),
        Err(_) => Ok(()),
    }
}

fn expiry(client: &Client) -> Outcome {
    let c = client.database("rust").collection::<Document>("ttl");
    let options = IndexOptions::builder().expire_after(Duration::from_secs(60)).build();
    c.create_index(IndexModel::builder().keys(doc! { "at": 1 }).options(options).build()).run()?;
    let later = DateTime::from_millis(DateTime::now().timestamp_millis() + 3_600_000);
    c.insert_many([doc! { "at": DateTime::now() }, doc! { "at": later }]).run()?;
    for (seconds, left) in [(30, 2), (90, 1), (3600, 0)] {
        client.database("admin").run_command(doc! { "testClock": 1, "advanceSeconds": seconds }).run()?;
        same(left, c.count_documents(doc! {}).run()?)?;
    }
    Ok(())
}

fn main() -> Outcome {
    let uri = std::env::var("URI")?;
    let client = Client::with_uri_str(&uri)?;
    let db = client.database("rust");
    check("crud", crud(&db));
    check("errors", errors(&db));
    check("aggregation", aggregation(&db));
    check("compression", compression(&uri));
    check("TLS and SCRAM", secured(&std::env::var("SECURE_URI")?, &std::env::var("CA_FILE")?));
    check("expiry", expiry(&client));
    println!("done");
    Ok(())
}
