import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.net.URI;
import java.net.http.*;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * One signed push, with Java 17 or newer; as "java Send.java batch" several in one request.
 * As "java Send.java sign" it signs what is on stdin.
 */
public class Send {
    static String sign(String clientId, String timestamp, String secret, byte[] body) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
        mac.update((clientId + "\n" + timestamp + "\n").getBytes(UTF_8));
        return HexFormat.of().formatHex(mac.doFinal(body));
    }

    static String line(InputStream in) throws IOException {
        var bytes = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) bytes.write(b);
        return bytes.toString(UTF_8);
    }

    static String setting(String name) {
        String value = System.getenv(name);
        if (value != null && !value.isEmpty()) return value;
        System.err.println(name + " is not set");
        System.exit(2);
        return "";
    }

    // Made once: these bytes are signed, and these bytes are sent. UTF_8 is named, since Java 17 takes the
    // machine's charset otherwise, for its sources too: so the Chinese titles are escaped.
    static byte[] one() {
        return """
            {"matterType":"TODO","externalId":"EXAMPLE-java","title":"\u5ba1\u6279\uff1a\u91c7\u8d2d\u7533\u8bf7"}"""
            .getBytes(UTF_8);
    }

    // One push a line, at most 1,000 lines; those of one matter take effect in their order.
    static byte[] several() {
        String matter = """
            {"matterType":"TODO","externalId":"EXAMPLE-java-batch","title":"\u5ba1\u6279\uff1a\u5dee\u65c5\u62a5\u9500"}""";
        return ("""
            {"op":"upsert","body":%s}
            {"op":"status","body":{"externalId":"EXAMPLE-java-batch","bizStatus":"APPROVED"}}
            """.formatted(matter)).getBytes(UTF_8);
    }

    public static void main(String[] args) throws Exception {
        String argument = args.length > 0 ? args[0] : "";
        if (argument.equals("sign")) { // three lines, and the rest is the body
            System.out.println(sign(line(System.in), line(System.in), line(System.in), System.in.readAllBytes()));
        } else if (argument.equals("batch")) {
            send("batch", several(), "EXAMPLE-java/batch");
        } else {
            send("upsert", one(), "EXAMPLE-java/created");
        }
    }

    static void send(String operation, byte[] body, String key) throws Exception {
        String url = setting("MATTER_PUSH_URL"), clientId = setting("CLIENT_ID"), secret = setting("CLIENT_SECRET");
        String timestamp = Long.toString(Instant.now().getEpochSecond()); // seconds, not milliseconds
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/api/open/matters/" + operation))
            .version(HttpClient.Version.HTTP_1_1).timeout(Duration.ofSeconds(60))
            .header("Content-Type", "application/json")
            .header("X-Client-Id", clientId).header("X-Timestamp", timestamp)
            .header("X-Signature", sign(clientId, timestamp, secret, body))
            // One per change, or per batch: a retry with it is answered, but not applied again.
            .header("X-Idempotency-Key", key)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
        byte[] answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
        System.out.write(answer); // of a batch: what became of each line, in data.results
        System.out.println();
        // The envelope begins with its code. With a JSON parser at hand, read "code" with that.
        System.exit(new String(answer, UTF_8).matches("(?s)\\{\"code\":0[,}].*") ? 0 : 1);
    }
}
