"""Every error that Remit raises, in one tree.

    RemitError
    ├── WrongUse                 the command or setting was used wrongly (exit 2)
    ├── InvalidDefinition        a document of the author cannot be loaded; carries its mistakes
    ├── InvalidRequest           what was asked cannot be done as it was asked
    ├── Unauthorized             no key, or one that opens nothing
    ├── Forbidden                the key's role does not reach this
    ├── NotFound                 no such thing, or it belongs to another workspace
    ├── AlreadyDecided           a reviewer decided on this version before
    ├── StaleDigest              what was shown is not what stands there now
    ├── SessionBusy              the session works, and the message did not say to wait
    ├── SessionWaiting           the session waits for somebody
    ├── SessionClosed            nothing happens in a session that is closed
    ├── NoModel                  no language model is set
    ├── ModelFailed              a language model gave no answer that can be used
    │   ├── ModelUnavailable         it cannot be reached or used
    │   ├── ModelRefused             it, or its provider, will not answer this
    │   └── ModelInvalid             what it answered is no answer
    ├── ClaimRefused             a client may not have a call now
    ├── CallOver                 a client answers a call that has ended otherwise
    ├── DeviceTaken              another user has a device of that id
    ├── PreconditionFailed       somebody else changed it since it was read
    ├── PreconditionRequired     a change must say which state it was made from
    ├── StoreUnavailable         the database cannot be reached or written
    └── CallError                a call ended without its result
        ├── refused before anything was sent
        │   ├── UnknownTool          no tool of that name in the catalog
        │   ├── InvalidArguments     the arguments break the tool's schema
        │   ├── InvalidPin           a pin breaks the tool's schema
        │   ├── MissingReference     the request needs a value that is not there
        │   ├── Denied               a person or a policy said no
        │   ├── OverCeiling          the tool is above what the app was approved for
        │   ├── NotConnected         no usable credential
        │   ├── ConsentRequired      the user has not consented to the version in force
        │   ├── NotApproved          no version of the app is approved
        │   ├── AppSuspended         the app is suspended
        │   ├── RateLimited          a limit of the policy is used up
        │   ├── Expired              nobody answered in time
        │   ├── ClientUnavailable    no client that could execute it
        │   └── EgressRefused        the guard refused the address
        └── after the first byte may have gone out
            ├── UpstreamError        the app answered with an error status
            ├── UpstreamTimeout      the app did not answer in time
            ├── UpstreamUnreachable  no connection, or it broke
            ├── ResponseTooLarge     the answer is over its cap
            ├── ResponseInvalid      the answer is not what the tool promises
            ├── ClientError          the user's client met an error while it executed the tool
            ├── UnserializableResult what the tool gave back cannot be sent
            ├── PollFailed           the job said that it failed
            ├── PollExhausted        the job was still running at the last poll
            ├── Cancelled            the caller stopped it
            ├── Skipped              the person skipped what the app asked for
            └── OutcomeUnknown       the server stopped in between; nobody knows what happened

Each class owns its ``code`` (contract section 5), its HTTP ``status`` (contract section 10)
and whose ``fault`` it is. Surfaces look these up; they never test for classes one by one.
"""

from remit.errors.base import (
    AlreadyDecided,
    CallOver,
    ClaimRefused,
    DeviceTaken,
    Fault,
    Forbidden,
    InvalidDefinition,
    InvalidRequest,
    ModelFailed,
    ModelInvalid,
    ModelRefused,
    ModelUnavailable,
    NoModel,
    NotFound,
    PreconditionFailed,
    PreconditionRequired,
    RemitError,
    SessionBusy,
    SessionClosed,
    SessionWaiting,
    StaleDigest,
    StoreUnavailable,
    Unauthorized,
    WrongUse,
)
from remit.errors.calls import (
    AppSuspended,
    CallError,
    Cancelled,
    ClientError,
    ClientUnavailable,
    ConsentRequired,
    Denied,
    EgressRefused,
    Expired,
    InvalidArguments,
    InvalidPin,
    MissingReference,
    NotApproved,
    NotConnected,
    OutcomeUnknown,
    OverCeiling,
    PollExhausted,
    PollFailed,
    RateLimited,
    ResponseInvalid,
    ResponseTooLarge,
    Skipped,
    UnknownTool,
    UnserializableResult,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)

__all__ = [
    "AlreadyDecided",
    "AppSuspended",
    "CallError",
    "CallOver",
    "Cancelled",
    "ClaimRefused",
    "ClientError",
    "ClientUnavailable",
    "ConsentRequired",
    "Denied",
    "DeviceTaken",
    "EgressRefused",
    "Expired",
    "Fault",
    "Forbidden",
    "InvalidArguments",
    "InvalidDefinition",
    "InvalidPin",
    "InvalidRequest",
    "MissingReference",
    "ModelFailed",
    "ModelInvalid",
    "ModelRefused",
    "ModelUnavailable",
    "NoModel",
    "NotApproved",
    "NotConnected",
    "NotFound",
    "OutcomeUnknown",
    "OverCeiling",
    "PollExhausted",
    "PollFailed",
    "PreconditionFailed",
    "PreconditionRequired",
    "RateLimited",
    "RemitError",
    "ResponseInvalid",
    "ResponseTooLarge",
    "SessionBusy",
    "SessionClosed",
    "SessionWaiting",
    "Skipped",
    "StaleDigest",
    "StoreUnavailable",
    "Unauthorized",
    "UnknownTool",
    "UnserializableResult",
    "UpstreamError",
    "UpstreamTimeout",
    "UpstreamUnreachable",
    "WrongUse",
]
