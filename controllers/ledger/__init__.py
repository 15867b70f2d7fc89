"""What every provider's controllers share: reading ledgers (`ZoneUnit`), answering them, and being a part of the product.

Knows no provider, no DNS service and no name server. May use `api`, `runtime` and the provider contract of `core`; providers build on it
and never on one another.

The contract with the composer, which writes `spec` while the provider writes `status`:

- Everything is done by zone: the key of a Zone, over all parts of its ledger. A part that is missing means that the content is not known.
- An item's result counts for the item's `observedGeneration`, a zone's condition for `spec.zone.observedGeneration`. A deletion is done
  when the part's `status.observedGeneration` is its generation and no entry is left for the item. `allowed: false` means hands off.
- The provider's finalizer is put on a part before anything is created for it and comes off when nothing is left.

How a provider is written on it:

- `registration.py` of its package makes one `Registration` (see `ledger.registration`), which `controllers.registry` lists. Its
  `EnabledProvider.attach(surroundings)` makes the provider's own caches and returns an `AttachedProvider`; `lead()` of that returns an
  asynchronous context manager with `controllers` and `conversions`, new for every leadership.
- That object holds a `LedgerControllers` (`ledger.controllers`), which follows classes, Providers and ledgers. It wants a `ClassRule`, the
  provider's judgement on a ZoneClass in the storage version (parameters, or a Verdict), and a reconciler of zones. `follow(informer, keys)`
  adds caches of the provider's own, `look_at_class(key)` is for whatever else a class depends on, such as its identity.
- The reconciler of zones: `gather_ledger` (`ledger.view`) and `stage_of` (`ledger.standing`) say whether there is something to do;
  `judge_class_of` gives the Zone's Accepted verdict and the parameters. Before anything is created: `Reporter.hold`, and `Reporter.note`
  for an intent that must outlive a crash. After observing: one `ZoneResult` and an `ItemResult` for each item go to `Reporter.report`.
  `Reporter.look_again` says when the zone is due again. In the end: `Reporter.let_go` when the deleting ledger is cleaned up, and
  `Reporter.release_spent` for parts that became empty.
- `ItemCache` (`ledger.item_cache`) keeps items in the provider's own form, so that only those that changed are converted again.
- Looking again at a zone may be caused by the provider's own status write, so requests to a service are paced by the reconciler.
"""
