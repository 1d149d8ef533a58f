import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.net.HttpURLConnection;
import java.net.URL;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * One signed push, with Java 8 or newer; as "java Send batch" several in one request.
 * As "java Send sign" it signs what is on stdin.
 */
public class Send {
    static final int TRIES = 5;
    static final int CONNECT_MS = 10_000;
    static final int ANSWER_MS = 60_000; // longer than BATCH_TIMEOUT of the service, which is 30 s
    static final long LONGEST_PAUSE_S = 300;

    static String sign(String clientId, String timestamp, String secret, byte[] body) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
        mac.update((clientId + "\n" + timestamp + "\n").getBytes(UTF_8));
        StringBuilder hex = new StringBuilder();
        for (byte b : mac.doFinal(body)) hex.append(String.format("%02x", b));
        return hex.toString();
    }

    static String setting(String name) {
        String value = System.getenv(name);
        if (value != null && !value.isEmpty()) return value;
        System.err.println(name + " is not set");
        System.exit(2);
        return "";
    }

    // Made once: these bytes are signed, and these bytes are sent. Before Java 18, sources and getBytes() have the
    // charset of the machine: so UTF_8 is named, and the Chinese titles are escaped.
    static byte[] one() {
        return ("{\"matterType\":\"TODO\",\"externalId\":\"EXAMPLE-java\","
            + "\"title\":\"\u5ba1\u6279\uff1a\u91c7\u8d2d\u7533\u8bf7\"}").getBytes(UTF_8);
    }

    // One push a line, at most 1,000 lines; those of one matter take effect in their order.
    static byte[] several() {
        String matter = "{\"matterType\":\"TODO\",\"externalId\":\"EXAMPLE-java-batch\","
            + "\"title\":\"\u5ba1\u6279\uff1a\u5dee\u65c5\u62a5\u9500\"}";
        String approved = "{\"externalId\":\"EXAMPLE-java-batch\",\"bizStatus\":\"APPROVED\"}";
        return ("{\"op\":\"upsert\",\"body\":" + matter + "}\n"
            + "{\"op\":\"status\",\"body\":" + approved + "}\n").getBytes(UTF_8);
    }

    public static void main(String[] args) throws Exception {
        String argument = args.length > 0 ? args[0] : "";
        if (argument.equals("sign")) { // three lines, and the rest is the body
            System.out.println(sign(line(System.in), line(System.in), line(System.in), bytesOf(System.in)));
        } else if (argument.equals("batch")) {
            send("batch", several(), "EXAMPLE-java/batch");
        } else {
            send("upsert", one(), "EXAMPLE-java/created");
        }
    }

    /** Sends until the answer is final. Each try has the same body and key, and a signature of its own. */
    static void send(String operation, byte[] body, String key) throws Exception {
        String url = setting("MATTER_PUSH_URL"), clientId = setting("CLIENT_ID"), secret = setting("CLIENT_SECRET");
        for (int tries = 1; ; tries++) {
            long pause = 1000L << (tries - 1); // 1 s, 2 s, 4 s, 8 s
            String why;
            try {
                Answer answer = post(url + "/api/open/matters/" + operation, clientId, secret, body, key);
                if (!answer.isRetryable() || tries == TRIES) {
                    System.out.write(answer.bytes); // of a batch: with the result of each line, in data.results
                    System.out.println();
                    System.exit(answer.isSuccess() ? 0 : 1);
                }
                if (answer.retryAfter > 0) pause = answer.retryAfter * 1000;
                why = "HTTP status " + answer.status;
            } catch (IOException noAnswer) { // it may have taken effect: the key makes another try safe
                if (tries == TRIES) throw noAnswer;
                why = noAnswer.toString();
            }
            System.err.println(why + ": try " + (tries + 1) + " of " + TRIES + " in " + pause + " ms");
            Thread.sleep(pause);
        }
    }

    static Answer post(String address, String clientId, String secret, byte[] body, String key)
            throws IOException, GeneralSecurityException {
        String timestamp = Long.toString(System.currentTimeMillis() / 1000); // seconds, not milliseconds
        HttpURLConnection http = (HttpURLConnection) new URL(address).openConnection();
        http.setConnectTimeout(CONNECT_MS);
        http.setReadTimeout(ANSWER_MS);
        http.setInstanceFollowRedirects(false);
        http.setRequestMethod("POST");
        http.setDoOutput(true);
        http.setRequestProperty("Content-Type", "application/json");
        http.setRequestProperty("X-Client-Id", clientId);
        http.setRequestProperty("X-Timestamp", timestamp);
        http.setRequestProperty("X-Signature", sign(clientId, timestamp, secret, body));
        // One per change, or per batch: a retry with it is answered, but not applied again.
        http.setRequestProperty("X-Idempotency-Key", key);
        try (OutputStream out = http.getOutputStream()) {
            out.write(body);
        }
        // If the connection breaks here, Java may send these bytes once more by itself. The key makes that safe, too.
        int status = http.getResponseCode();
        InputStream content = status < 400 ? http.getInputStream() : http.getErrorStream();
        long retryAfter = Math.min(http.getHeaderFieldLong("Retry-After", 0), LONGEST_PAUSE_S);
        return new Answer(status, retryAfter, content == null ? new byte[0] : bytesOf(content));
    }

    // With a JSON parser at hand, read code and retryable with that. Quotes inside texts of JSON are escaped, so
    // "retryable":true is always the field.
    static class Answer {
        final int status;
        final long retryAfter; // seconds, or 0
        final byte[] bytes;
        final String text;

        Answer(int status, long retryAfter, byte[] bytes) {
            this.status = status;
            this.retryAfter = retryAfter;
            this.bytes = bytes;
            this.text = new String(bytes, UTF_8);
        }

        boolean isSuccess() {
            return text.matches("(?s)\\{\"code\":0[,}].*");
        }

        // The lines of this batch have no keys of their own, so it is sent again as a whole: only if no line failed
        // for good. An answer without an envelope comes from a gateway.
        boolean isRetryable() {
            if (text.startsWith("{\"code\":"))
                return text.contains("\"retryable\":true") && !text.contains("\"retryable\":false");
            return status == 408 || status == 429 || status >= 500;
        }
    }

    static String line(InputStream in) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) bytes.write(b);
        return bytes.toString("UTF-8");
    }

    static byte[] bytesOf(InputStream in) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        for (int read = in.read(part); read >= 0; read = in.read(part)) bytes.write(part, 0, read);
        return bytes.toByteArray();
    }
}
