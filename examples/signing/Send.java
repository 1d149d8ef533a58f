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

/** One signed push, with Java 17 or newer. As "java Send.java sign" it signs what is on stdin. */
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

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("sign")) { // three lines, and the rest is the body
            System.out.println(sign(line(System.in), line(System.in), line(System.in), System.in.readAllBytes()));
            return;
        }
        String url = setting("MATTER_PUSH_URL"), clientId = setting("CLIENT_ID"), secret = setting("CLIENT_SECRET");
        // Made once: these bytes are signed, and these bytes are sent. UTF_8 is named, since Java 17 takes the
        // machine's charset otherwise, for its sources too: so the Chinese title is escaped.
        byte[] body = """
            {"matterType":"TODO","externalId":"EXAMPLE-java","title":"\u5ba1\u6279\uff1a\u91c7\u8d2d\u7533\u8bf7"}"""
            .getBytes(UTF_8);
        String timestamp = Long.toString(Instant.now().getEpochSecond()); // seconds, not milliseconds
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/api/open/matters/upsert"))
            .version(HttpClient.Version.HTTP_1_1).timeout(Duration.ofSeconds(30))
            .header("Content-Type", "application/json")
            .header("X-Client-Id", clientId).header("X-Timestamp", timestamp)
            .header("X-Signature", sign(clientId, timestamp, secret, body))
            // One per change: a retry with it is answered, but not applied again.
            .header("X-Idempotency-Key", "EXAMPLE-java/created")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
        byte[] answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
        System.out.write(answer);
        System.out.println();
        // The envelope begins with its code. With a JSON parser at hand, read "code" with that.
        System.exit(new String(answer, UTF_8).matches("(?s)\\{\"code\":0[,}].*") ? 0 : 1);
    }
}
