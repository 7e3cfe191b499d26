// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Calls} from "../shared/Calls.sol";
import {Transfers} from "../shared/Transfers.sol";

struct Call3Value {
    address target;
    bool allowFailure;
    uint256 value;
    bytes callData;
}

struct TokenPermissions {
    address token;
    uint256 amount;
}

/// Runs the calls of one permit while it is being created, and gives back what they leave. Nothing can be
/// created at its address again, so an approval that a call leaves behind lets nobody take anything.
contract PermittedCalls {
    error CallFailed(uint256 index, bytes reason);

    constructor(Call3Value[] memory calls, TokenPermissions[] memory permitted, address refundTo) {
        for (uint256 i = 0; i < calls.length; ++i) {
            Call3Value memory one = calls[i];
            if (!Calls.run(one.target, one.value, one.callData) && !one.allowFailure) {
                revert CallFailed(i, Calls.returned(Calls.REASON));
            }
        }
        for (uint256 i = 0; i < permitted.length; ++i) {
            uint256 left = Transfers.heldBy(permitted[i].token, address(this));
            if (left > 0) Transfers.push(permitted[i].token, refundTo, left);
        }
        if (address(this).balance > 0) Transfers.pushNative(refundTo, address(this).balance);
    }
}
