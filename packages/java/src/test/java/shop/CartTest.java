package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import io.github.duskdb.junit.DuskDB;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CartTest {
    @RegisterExtension
    DuskDB duskdb = new DuskDB();

    @Test
    void aCartExpires() {
        MongoCollection<Document> carts = duskdb.client().getDatabase("shop").getCollection("carts");
        carts.createIndex(Indexes.ascending("touched"), new IndexOptions().expireAfter(1L, TimeUnit.HOURS));
        carts.insertOne(new Document("touched", new Date()));
        duskdb.advance("61m"); // returns after the expiry pass that became due
        assertEquals(0, carts.countDocuments());
    }
}
