// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// One guarded entry per transaction at a time. The flag is transient: it costs no storage.
abstract contract ReentrancyGuard {
    bool private transient entered;

    error Reentered();

    modifier nonReentrant() {
        if (entered) revert Reentered();
        entered = true;
        _;
        entered = false;
    }
}
