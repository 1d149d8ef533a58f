"""Writes schemas.ndjson: the API's schemas of the kinds in ops/kubernetes, strict, one to a line.

    python3 -m venv venv && venv/bin/pip install -r test/kubernetes/requirements.txt
    venv/bin/python test/kubernetes/make_schemas.py

Kubernetes publishes its own in its OpenAPI document, KEDA, Prometheus Operator and Gateway API in their custom resource
definitions. The last are read from the Go module, so Go is needed too. Descriptions, the status that only the server
writes, and extensions are omitted. A field that the API does not know is a problem.
"""

import json
import subprocess
from pathlib import Path

import kubernetes_validate
import yaml
from cloudcoil.models.keda.v1alpha1 import ScaledObject
from cloudcoil.models.prometheus_operator.v1 import PodMonitor, PrometheusRule

VERSION = "v1.37.0-local-strict"
SOURCE = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / VERSION / "_definitions.json"
TARGET = Path(__file__).parent / "schemas.ndjson"
META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
KINDS = {
    "v1/ConfigMap": "io.k8s.api.core.v1.ConfigMap",
    "v1/Namespace": "io.k8s.api.core.v1.Namespace",
    "v1/Secret": "io.k8s.api.core.v1.Secret",
    "v1/Service": "io.k8s.api.core.v1.Service",
    "v1/ServiceAccount": "io.k8s.api.core.v1.ServiceAccount",
    "apps/v1/Deployment": "io.k8s.api.apps.v1.Deployment",
    "autoscaling/v2/HorizontalPodAutoscaler": "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
    "batch/v1/CronJob": "io.k8s.api.batch.v1.CronJob",
    "batch/v1/Job": "io.k8s.api.batch.v1.Job",
    "networking.k8s.io/v1/Ingress": "io.k8s.api.networking.v1.Ingress",
    "networking.k8s.io/v1/NetworkPolicy": "io.k8s.api.networking.v1.NetworkPolicy",
    "policy/v1/PodDisruptionBudget": "io.k8s.api.policy.v1.PodDisruptionBudget",
}
# The prefix of their definitions, and the model.
MODELS = {
    "keda.sh/v1alpha1/ScaledObject": ("keda", ScaledObject),
    "monitoring.coreos.com/v1/PodMonitor": ("monitoring.PodMonitor", PodMonitor),
    "monitoring.coreos.com/v1/PrometheusRule": ("monitoring.PrometheusRule", PrometheusRule),
}
GATEWAY_API = "sigs.k8s.io/gateway-api@v1.6.3"
HTTP_ROUTE = "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"
LEFT_OUT = {"description", "default", "title", "$schema", "$id"}


def bare(schema):
    """Without what says nothing about form; references lead to a line of the file."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, value in schema.items():
        if key in LEFT_OUT or key.startswith("x-"):
            continue
        if key == "properties":
            kept[key] = {name: bare(one) for name, one in value.items() if name != "status"}
        elif key == "$ref":
            kept[key] = "#/" + value.split("/")[-1]
        else:
            kept[key] = bare(value)
    return kept


def references(schema):
    if isinstance(schema, list):
        for one in schema:
            yield from references(one)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                yield value.removeprefix("#/")
            else:
                yield from references(value)


def reached(names, definitions):
    """These definitions and all that they refer to."""
    found = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = bare(definitions[name])
            waiting += references(found[name])
    return found


def strict(schema):
    """A custom resource: no field but the named ones, and no null, which no manifest has."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    options = [one for one in schema.get("anyOf", []) if one != {"type": "null"}]
    if len(options) == 1:
        return strict(options[0])
    closed = {key: strict(value) for key, value in schema.items()}
    if "properties" in schema and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


def of_model(kind, prefix, model):
    """Its definitions by names of their own; metadata is that of Kubernetes."""
    schema = model.model_json_schema(by_alias=True)
    schema["properties"]["metadata"] = {"$ref": META}
    definitions = {kind: schema, **schema.pop("$defs")}
    used = reached([kind], {**definitions, META: {}})
    del used[META]
    text = json.dumps({name: strict(one) for name, one in used.items()})
    for name in used:
        text = text.replace(f'"#/{name}"', f'"#/{prefix}.{name}"')
    return {name if name == kind else f"{prefix}.{name}": one for name, one in json.loads(text).items()}


def http_route():
    """The schema of its version v1; metadata is that of Kubernetes."""
    module = json.loads(subprocess.check_output(["go", "mod", "download", "-json", GATEWAY_API]))
    versions = yaml.safe_load((Path(module["Dir"]) / HTTP_ROUTE).read_text())["spec"]["versions"]
    [schema] = [one["schema"]["openAPIV3Schema"] for one in versions if one["name"] == "v1"]
    schema["properties"]["metadata"] = {"$ref": META}
    return strict(bare(schema))


def main():
    definitions = json.loads(SOURCE.read_text())["$defs"]
    kinds = {kind: bare(definitions[name]) for kind, name in KINDS.items()}
    wanted = [name for schema in kinds.values() for name in references(schema)]
    lines = {**kinds, **reached(wanted, definitions)}
    for kind, (prefix, model) in MODELS.items():
        lines.update(of_model(kind, prefix, model))
    lines["gateway.networking.k8s.io/v1/HTTPRoute"] = http_route()
    text = (json.dumps({"name": name, "schema": lines[name]}, separators=(",", ":")) for name in sorted(lines))
    TARGET.write_text("\n".join(text) + "\n")


main()
