// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "./IERC20.sol";

/// Moves value and refuses silence: tokens that return nothing count as successful, tokens that
/// return false, revert or have no code do not.
library Transfers {
    error TokenCallFailed(address token, bytes reason);
    error NativeTransferFailed(address to, uint256 amount);

    function push(address token, address to, uint256 amount) internal {
        _call(token, abi.encodeCall(IERC20.transfer, (to, amount)));
    }

    function pull(address token, address from, address to, uint256 amount) internal {
        _call(token, abi.encodeCall(IERC20.transferFrom, (from, to, amount)));
    }

    function allow(address token, address spender, uint256 amount) internal {
        _call(token, abi.encodeCall(IERC20.approve, (spender, amount)));
    }

    function pushNative(address to, uint256 amount) internal {
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert NativeTransferFailed(to, amount);
    }

    function _call(address token, bytes memory data) private {
        (bool ok, bytes memory result) = token.call(data);
        if (!ok) revert TokenCallFailed(token, result);
        bool accepted = result.length == 0 ? token.code.length > 0 : abi.decode(result, (bool));
        if (!accepted) revert TokenCallFailed(token, result);
    }
}
