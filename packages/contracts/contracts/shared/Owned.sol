// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Ownership that is set once, after deployment, so that no address depends on the owner's key. `Initialized`
/// restricts who may set it, as anybody can send a transaction to a new contract.
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
