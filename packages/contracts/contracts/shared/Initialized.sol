// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Owned} from "./Owned.sol";

/// A contract whose `initialize` one account alone may call. The account is a part of the creation code and so
/// of the address: nobody else names the owner of a contract that stands there, on any chain, at any time.
abstract contract Initialized is Owned {
    address public immutable INITIALIZER;

    error NotInitializer();

    constructor(address initializer) {
        INITIALIZER = initializer;
    }

    function _initialize(address owner_) internal {
        // First, so that a contract with an owner answers `AlreadyInitialized` to everybody.
        _initializeOwner(owner_);
        if (msg.sender != INITIALIZER) revert NotInitializer();
    }
}
