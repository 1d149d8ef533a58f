// One signed push, with .NET 8; as `dotnet run -- batch` several in one request.
// As `dotnet run -- sign` it signs what is on stdin.
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

if (args is ["sign"])
{
    // Three lines, and what follows is the body, byte for byte: no Console.In, which decodes.
    using Stream stdin = Console.OpenStandardInput();
    string[] lines = [Line(stdin), Line(stdin), Line(stdin)];
    using var rest = new MemoryStream();
    stdin.CopyTo(rest);
    Console.WriteLine(Sign(lines[0], lines[1], lines[2], rest.ToArray()));
    return 0;
}

string url = Setting("MATTER_PUSH_URL"), clientId = Setting("CLIENT_ID"), secret = Setting("CLIENT_SECRET");
// Made once: these bytes are signed, and these bytes are sent. PostAsJsonAsync would serialize again.
var (operation, body, key) = args is ["batch"]
    ? ("batch", Several(), "EXAMPLE-csharp/batch")
    : ("upsert", One(), "EXAMPLE-csharp/created");
string timestamp = DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString(); // seconds, not milliseconds

using var request = new HttpRequestMessage(HttpMethod.Post, $"{url}/api/open/matters/{operation}");
request.Content = new ByteArrayContent(body);
request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
request.Headers.Add("X-Client-Id", clientId);
request.Headers.Add("X-Timestamp", timestamp);
request.Headers.Add("X-Signature", Sign(clientId, timestamp, secret, body));
// One per change, or per batch: a retry with it is answered, but not applied again.
request.Headers.Add("X-Idempotency-Key", key);
using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(60) };
using HttpResponseMessage response = await client.SendAsync(request);
byte[] answer = await response.Content.ReadAsByteArrayAsync();
Console.OpenStandardOutput().Write(answer); // as it came: the console may have another charset
Console.WriteLine(); // of a batch: what became of each line, in data.results
using JsonDocument envelope = JsonDocument.Parse(answer);
return envelope.RootElement.GetProperty("code").GetInt32() == 0 ? 0 : 1;

static byte[] One() => JsonSerializer.SerializeToUtf8Bytes(
    new { matterType = "TODO", externalId = "EXAMPLE-csharp", title = "审批：采购申请" });

// One push a line, at most 1,000 lines; those of one matter take effect in their order.
static byte[] Several()
{
    const string externalId = "EXAMPLE-csharp-batch";
    object[] pushes =
    [
        new { op = "upsert", body = new { matterType = "TODO", externalId, title = "审批：差旅报销" } },
        new { op = "status", body = new { externalId, bizStatus = "APPROVED" } },
    ];
    string lines = string.Join('\n', pushes.Select(push => JsonSerializer.Serialize(push)));
    return Encoding.UTF8.GetBytes(lines);
}

static string Sign(string clientId, string timestamp, string secret, byte[] body)
{
    byte[] message = [.. Encoding.UTF8.GetBytes($"{clientId}\n{timestamp}\n"), .. body];
    byte[] hash = HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), message);
    return Convert.ToHexString(hash).ToLowerInvariant();
}

static string Line(Stream input)
{
    var bytes = new List<byte>();
    for (int next = input.ReadByte(); next >= 0 && next != '\n'; next = input.ReadByte()) bytes.Add((byte)next);
    return Encoding.UTF8.GetString(bytes.ToArray());
}

static string Setting(string name)
{
    string? value = Environment.GetEnvironmentVariable(name);
    if (!string.IsNullOrEmpty(value)) return value;
    Console.Error.WriteLine($"{name} is not set");
    Environment.Exit(2);
    return "";
}
