// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Ownership that is set after deployment, so that no address depends on a key.
/// Ownership is set once: `Initialized` says by whom where others send transactions too.
abstract contract Owned {
    address public owner;

    error AlreadyInitialized();
    error NotOwner();
    error ZeroOwner();

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    function _initializeOwner(address owner_) internal {
        if (owner != address(0)) revert AlreadyInitialized();
        if (owner_ == address(0)) revert ZeroOwner();
        owner = owner_;
    }
}
