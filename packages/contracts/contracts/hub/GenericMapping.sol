// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initialized} from "../shared/Initialized.sol";
import {Roles} from "../shared/Roles.sol";
import {Signatures} from "../shared/Signatures.sol";
import {TypedData} from "../shared/TypedData.sol";

/// Data that a user (or, for an alias without a key, an oracle or an operator) attached to an id, with the
/// time it was written. An entry is never changed: readers judge it by its age.
contract GenericMapping is Roles, TypedData {
    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");
    bytes32 public constant ORACLE_ROLE = keccak256("ORACLE_ROLE");
    bytes32 private constant ENTRY_TYPEHASH = keccak256("SetEntry(address user,bytes32 id,bytes data,bytes32 nonce)");

    struct Entry {
        bytes data;
        uint256 createdAt;
    }

    mapping(address user => mapping(bytes32 id => Entry)) private entries;
    mapping(bytes32 nonce => bool) public isNonceUsed;

    event EntrySet(address indexed user, bytes32 indexed id, bytes data);

    error NotOperator();
    error EntryExists();
    error UnauthorizedOracle();
    error InvalidSignature();
    error NonceUsed();

    constructor(address initializer) Initialized(initializer) {}

    function initialize(address owner_, address operator, address oracle) external {
        _initialize(owner_);
        _grantRole(OPERATOR_ROLE, operator);
        _grantRole(ORACLE_ROLE, oracle);
    }

    function setEntry(bytes32 id, bytes calldata data) external {
        _set(msg.sender, id, data);
    }

    function setEntryFor(address user, bytes32 id, bytes calldata data) external {
        if (!hasRole[OPERATOR_ROLE][msg.sender]) revert NotOperator();
        _set(user, id, data);
    }

    /// Anybody brings what an oracle signed, each nonce once. An oracle is a key or an EIP-1271 contract.
    function setEntry(
        address user,
        bytes32 id,
        bytes calldata data,
        bytes32 nonce,
        address oracle,
        bytes calldata signature
    ) external {
        if (!hasRole[ORACLE_ROLE][oracle]) revert UnauthorizedOracle();
        if (isNonceUsed[nonce]) revert NonceUsed();
        if (!Signatures.isValid(oracle, hashEntry(user, id, data, nonce), signature)) revert InvalidSignature();
        isNonceUsed[nonce] = true;
        _set(user, id, data);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return _domainSeparator("RelayGenericMapping", "1");
    }

    /// The digest an oracle signs.
    function hashEntry(address user, bytes32 id, bytes calldata data, bytes32 nonce) public view returns (bytes32) {
        bytes32 structHash = keccak256(abi.encode(ENTRY_TYPEHASH, user, id, keccak256(data), nonce));
        return _digest(DOMAIN_SEPARATOR(), structHash);
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
