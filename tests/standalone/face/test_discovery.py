"""Discovery documents: what clients learn about the served resources."""

import pytest

from standalone.discovery import (
    aggregated_v2,
    api_group,
    api_versions,
    legacy_groups,
    resource_list,
    version_info,
    version_priority,
)
from standalone.resource import Resource


def custom(version: str, group: str = "stable.example.com", *, has_status: bool = False) -> Resource:
    return Resource(
        group,
        version,
        "crontabs",
        "crontab",
        "CronTab",
        "CronTabList",
        True,
        short_names=("ct",),
        categories=("all",),
        has_status=has_status,
        custom=True,
    )


SECRET = Resource("", "v1", "secrets", "secret", "Secret", "SecretList", True)
NAMESPACE = Resource("", "v1", "namespaces", "namespace", "Namespace", "NamespaceList", False, ("ns",), has_status=True)
LEASE = Resource("coordination.k8s.io", "v1", "leases", "lease", "Lease", "LeaseList", True)
REVIEW = Resource(
    "authorization.k8s.io",
    "v1",
    "selfsubjectaccessreviews",
    "selfsubjectaccessreview",
    "SelfSubjectAccessReview",
    "SelfSubjectAccessReviewList",
    False,
    verbs=("create",),
)
RESOURCES = [
    custom("v1beta1"),
    custom("v1", has_status=True),
    LEASE,
    custom("v1", group="a.example.com"),
    SECRET,
    REVIEW,
    NAMESPACE,
]


def test_versions_are_preferred_by_maturity_then_number() -> None:
    versions = ["v1alpha1", "foo", "v1", "v1beta2", "v11", "v2beta1", "bar", "v1beta1", "v2", "v01"]
    assert sorted(versions, key=version_priority) == [
        "v11",
        "v2",
        "v1",
        "v2beta1",
        "v1beta2",
        "v1beta1",
        "v1alpha1",
        "bar",
        "foo",
        "v01",
    ]


def test_the_core_group_is_under_api_and_the_others_under_apis() -> None:
    assert api_versions(RESOURCES)["versions"] == ["v1"]
    groups = legacy_groups(RESOURCES)["groups"]
    assert [group["name"] for group in groups] == [
        "authorization.k8s.io",
        "coordination.k8s.io",
        "a.example.com",
        "stable.example.com",
    ]
    assert groups[-1] == {
        "name": "stable.example.com",
        "versions": [
            {"groupVersion": "stable.example.com/v1", "version": "v1"},
            {"groupVersion": "stable.example.com/v1beta1", "version": "v1beta1"},
        ],
        "preferredVersion": {"groupVersion": "stable.example.com/v1", "version": "v1"},
    }


def test_a_group_has_a_document_of_its_own() -> None:
    document = api_group(RESOURCES, "coordination.k8s.io")
    assert document is not None
    assert (document["kind"], document["name"]) == ("APIGroup", "coordination.k8s.io")


@pytest.mark.parametrize("group", ["", "nobody.example.com"])
def test_a_group_that_nothing_is_in_has_no_document(group: str) -> None:
    assert api_group(RESOURCES, group) is None


def test_a_resource_list_names_resources_and_their_status() -> None:
    document = resource_list(RESOURCES, "stable.example.com/v1")
    assert document is not None
    assert document["groupVersion"] == "stable.example.com/v1"
    crontab, status = document["resources"]
    assert crontab["name"] == "crontabs"
    assert crontab["singularName"] == "crontab"
    assert crontab["shortNames"] == ["ct"]
    assert crontab["categories"] == ["all"]
    assert "watch" in crontab["verbs"]
    assert (status["name"], status["kind"], status["verbs"]) == (
        "crontabs/status",
        "CronTab",
        ["get", "patch", "update"],
    )


def test_a_version_that_nothing_has_has_no_resource_list() -> None:
    assert resource_list(RESOURCES, "stable.example.com/v2") is None


def test_a_review_can_only_be_created_and_is_not_stored() -> None:
    document = resource_list(RESOURCES, "authorization.k8s.io/v1")
    assert document is not None
    (review,) = document["resources"]
    assert review["verbs"] == ["create"]
    assert "storageVersionHash" not in review


def test_the_aggregated_form_says_the_same_as_the_legacy_form() -> None:
    items = [*aggregated_v2(RESOURCES, core=True)["items"], *aggregated_v2(RESOURCES, core=False)["items"]]
    aggregated = set()
    for group in items:
        name = group["metadata"].get("name", "")
        for version in group["versions"]:
            group_version = f"{name}/{version['version']}" if name else version["version"]
            for resource in version["resources"]:
                verbs = tuple(resource["verbs"])
                aggregated.add((group_version, resource["resource"], resource["responseKind"]["kind"], verbs))
                for subresource in resource.get("subresources", ()):
                    path = f"{resource['resource']}/{subresource['subresource']}"
                    kind = subresource["responseKind"]["kind"]
                    aggregated.add((group_version, path, kind, tuple(subresource["verbs"])))
    legacy = set()
    for group_version in {resource.api_version for resource in RESOURCES}:
        document = resource_list(RESOURCES, group_version)
        assert document is not None
        legacy |= {(group_version, each["name"], each["kind"], tuple(each["verbs"])) for each in document["resources"]}
    assert aggregated == legacy


def test_the_aggregated_form_keeps_the_groups_apart_by_path() -> None:
    assert [each["metadata"].get("name") for each in aggregated_v2(RESOURCES, core=True)["items"]] == [None]
    names = [each["metadata"]["name"] for each in aggregated_v2(RESOURCES, core=False)["items"]]
    assert names == [group["name"] for group in legacy_groups(RESOURCES)["groups"]]
    (core,) = aggregated_v2(RESOURCES, core=True)["items"]
    scopes = {each["resource"]: each["scope"] for each in core["versions"][0]["resources"]}
    assert scopes == {"namespaces": "Cluster", "secrets": "Namespaced"}


def test_the_version_is_one_that_clients_can_compare() -> None:
    info = version_info()
    assert info["gitVersion"].startswith(f"v{info['major']}.{info['minor']}.")
    assert info["platform"].count("/") == 1
