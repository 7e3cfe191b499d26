// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initialized} from "../shared/Initialized.sol";
import {Roles} from "../shared/Roles.sol";
import {Signatures} from "../shared/Signatures.sol";
import {TypedData} from "../shared/TypedData.sol";
import {Hub} from "./Hub.sol";

struct Execution {
    bytes32 idempotencyKey;
    bytes[] actions;
}

/// Applies executions that an authorised oracle signed to the hub, each key once. An oracle is a key
/// or an EIP-1271 contract.
contract HubOracle is Roles, TypedData {
    bytes32 public constant ORACLE_ROLE = keccak256("ORACLE_ROLE");
    bytes32 private constant EXECUTION_TYPEHASH = keccak256("Execution(bytes32 idempotencyKey,bytes[] actions)");

    uint256 private constant MINT = 0;
    uint256 private constant BURN = 1;
    uint256 private constant TRANSFER = 2;

    Hub public immutable HUB;
    mapping(bytes32 idempotencyKey => bool) public isExecuted;

    event Executed(bytes32 indexed idempotencyKey, bytes[] actions);
    event ExecutionFailed(bytes32 indexed idempotencyKey, bytes reason);

    error AlreadyExecuted();
    error UnauthorizedOracle();
    error InvalidSignature();
    error InvalidActionType();
    error LengthMismatch();

    constructor(Hub hub, address initializer) Initialized(initializer) {
        HUB = hub;
    }

    function initialize(address owner_, address oracle) external {
        _initialize(owner_);
        _grantRole(ORACLE_ROLE, oracle);
    }

    function execute(Execution calldata execution, address oracle, bytes calldata signature) external {
        if (!hasRole[ORACLE_ROLE][oracle]) revert UnauthorizedOracle();
        if (isExecuted[execution.idempotencyKey]) revert AlreadyExecuted();
        if (!Signatures.isValid(oracle, hashExecution(execution), signature)) revert InvalidSignature();
        isExecuted[execution.idempotencyKey] = true;
        for (uint256 i = 0; i < execution.actions.length; ++i) _apply(execution.actions[i]);
        emit Executed(execution.idempotencyKey, execution.actions);
    }

    /// Skips keys that were executed before; one failing execution does not stop the others.
    function executeMultiple(Execution[] calldata executions, address oracle, bytes[] calldata signatures) external {
        if (executions.length != signatures.length) revert LengthMismatch();
        for (uint256 i = 0; i < executions.length; ++i) {
            if (isExecuted[executions[i].idempotencyKey]) continue;
            try this.execute(executions[i], oracle, signatures[i]) {}
            catch (bytes memory reason) {
                emit ExecutionFailed(executions[i].idempotencyKey, reason);
            }
        }
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return _domainSeparator("RelayOracle", "2");
    }

    /// The digest an oracle signs.
    function hashExecution(Execution calldata execution) public view returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](execution.actions.length);
        for (uint256 i = 0; i < hashes.length; ++i) hashes[i] = keccak256(execution.actions[i]);
        bytes32 structHash = keccak256(
            abi.encode(EXECUTION_TYPEHASH, execution.idempotencyKey, keccak256(abi.encodePacked(hashes)))
        );
        return _digest(DOMAIN_SEPARATOR(), structHash);
    }

    /// The first word of an action is its type.
    function _apply(bytes calldata action) private {
        uint256 kind = abi.decode(action, (uint256));
        if (kind == MINT) {
            (, address to, uint256 id, uint256 amount) = abi.decode(action, (uint256, address, uint256, uint256));
            HUB.mint(to, id, amount);
        } else if (kind == BURN) {
            (, address from, uint256 id, uint256 amount) = abi.decode(action, (uint256, address, uint256, uint256));
            HUB.burn(from, id, amount);
        } else if (kind == TRANSFER) {
            (, address from, address to, uint256 id, uint256 amount) =
                abi.decode(action, (uint256, address, address, uint256, uint256));
            HUB.transferFrom(from, to, id, amount);
        } else {
            revert InvalidActionType();
        }
    }
}
