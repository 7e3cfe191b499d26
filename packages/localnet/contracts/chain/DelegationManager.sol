// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Transfers} from "../shared/Transfers.sol";

/// Stands for the contract that a large wallet has redeem its users' delegations: whoever presents one has it
/// executed with what the user holds. Here a delegation is the user's allowance and his word on what for, and
/// an execution is one transfer.
contract DelegationManager {
    struct Execution {
        address token;
        address to;
        uint256 amount;
    }

    /// Digests of executions that their user agreed to.
    mapping(address user => mapping(bytes32 digest => bool)) public isAgreed;

    error NotAgreed();
    error LengthMismatch();

    function agree(bytes calldata execution) external {
        isAgreed[msg.sender][keccak256(execution)] = true;
    }

    /// Each context is the encoded address of a user; modes have no effect.
    function redeemDelegations(bytes[] calldata contexts, bytes32[] calldata modes, bytes[] calldata executions)
        external
    {
        if (contexts.length != executions.length || modes.length != executions.length) revert LengthMismatch();
        for (uint256 i = 0; i < executions.length; ++i) {
            address user = abi.decode(contexts[i], (address));
            bytes32 digest = keccak256(executions[i]);
            if (!isAgreed[user][digest]) revert NotAgreed();
            isAgreed[user][digest] = false;
            Execution memory execution = abi.decode(executions[i], (Execution));
            Transfers.pull(execution.token, user, execution.to, execution.amount);
        }
    }
}
