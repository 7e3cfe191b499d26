// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Transfers} from "../shared/Transfers.sol";

interface IDepository {
    function depositNative(address depositor, bytes32 id) external payable;
    function depositErc20(address depositor, address token, uint256 amount, bytes32 id) external;
}

interface ISweepOrigin {
    function current()
        external
        view
        returns (address depository, address depositor, bytes32 orderId, address token, uint256 swapped);
}

/// Lives at a deposit address for the length of one constructor: it moves everything that lies there and
/// is gone. The address never has code, so that payments to it cost what those to an account cost, and
/// can be swept again.
contract DepositSweep {
    error NothingToSweep();

    /// For a swap, the creator gets the amount `swapped` of the token, and the rest of the token stays. Without a
    /// swap everything is deposited for the order, or goes to the depositor if there is no order id. Native coin
    /// that is left in the end goes to the depositor.
    constructor() {
        (address depository, address depositor, bytes32 orderId, address token, uint256 swapped) =
            ISweepOrigin(msg.sender).current();
        uint256 tokens = token == address(0) ? 0 : Transfers.heldBy(token, address(this));
        uint256 native = address(this).balance;
        if (tokens == 0 && native == 0) revert NothingToSweep();
        if (swapped > 0) {
            if (token == address(0)) Transfers.pushNative(msg.sender, swapped);
            else Transfers.push(token, msg.sender, swapped);
        } else if (orderId == 0) {
            // `selfdestruct` sends native coin below. No depositor can refuse that, so a stranger's dust stops nothing.
            if (tokens > 0) Transfers.push(token, depositor, tokens);
        } else {
            if (tokens > 0) {
                Transfers.allow(token, depository, tokens);
                IDepository(depository).depositErc20(depositor, token, tokens, orderId);
            }
            if (native > 0) IDepository(depository).depositNative{value: native}(depositor, orderId);
        }
        selfdestruct(payable(depositor));
    }
}
