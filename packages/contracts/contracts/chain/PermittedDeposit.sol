// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Transfers} from "../shared/Transfers.sol";

interface IPermitOrigin {
    function current()
        external
        view
        returns (address depository, address token, address owner, uint256 amount, bytes32 orderId);
}

interface IErc20Depository {
    function depositErc20(address depositor, address token, uint256 amount, bytes32 id) external;
}

/// The spender that the owner's permit allows: it makes one deposit of one order while its router creates it.
/// It asks the router for the terms and takes no arguments, so that `DEPOSIT_CODE_HASH` is a constant. The
/// address cannot be created again, so its allowance serves one deposit.
contract PermittedDeposit {
    constructor() {
        (address depository, address token, address owner, uint256 amount, bytes32 orderId) =
            IPermitOrigin(msg.sender).current();
        Transfers.pull(token, owner, address(this), amount);
        Transfers.allow(token, depository, amount);
        IErc20Depository(depository).depositErc20(owner, token, amount, orderId);
    }
}
