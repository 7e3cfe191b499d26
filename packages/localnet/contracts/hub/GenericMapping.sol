// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Roles} from "../shared/Roles.sol";

/// Data that a user (or an operator, for an alias without a key) attached to an id, with the time it
/// was written. An entry is never changed: readers judge it by its age.
contract GenericMapping is Roles {
    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");

    struct Entry {
        bytes data;
        uint256 createdAt;
    }

    mapping(address user => mapping(bytes32 id => Entry)) private entries;

    event EntrySet(address indexed user, bytes32 indexed id, bytes data);

    error NotOperator();
    error EntryExists();

    function initialize(address owner_, address operator) external {
        _initializeOwner(owner_);
        _grantRole(OPERATOR_ROLE, operator);
    }

    function setEntry(bytes32 id, bytes calldata data) external {
        _set(msg.sender, id, data);
    }

    function setEntryFor(address user, bytes32 id, bytes calldata data) external {
        if (!hasRole[OPERATOR_ROLE][msg.sender]) revert NotOperator();
        _set(user, id, data);
    }

    /// Empty data and zero time when there is none.
    function getEntry(address user, bytes32 id) external view returns (bytes memory data, uint256 createdAt) {
        Entry storage entry = entries[user][id];
        return (entry.data, entry.createdAt);
    }

    function _set(address user, bytes32 id, bytes calldata data) private {
        if (entries[user][id].createdAt != 0) revert EntryExists();
        entries[user][id] = Entry(data, block.timestamp);
        emit EntrySet(user, id, data);
    }
}
