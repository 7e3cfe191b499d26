// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Calls} from "./Calls.sol";
import {IERC20} from "./IERC20.sol";

/// Moves value, and reverts where it did not move. A token's call succeeds if it returns true or nothing. It fails if
/// it reverts or returns anything else, and if the token has no code.
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
        if (!Calls.run(to, amount, "")) revert NativeTransferFailed(to, amount);
    }

    /// Balance of `holder` in a token.
    function heldBy(address token, address holder) internal view returns (uint256) {
        return _ask(token, abi.encodeCall(IERC20.balanceOf, (holder)));
    }

    function allowed(address token, address holder, address spender) internal view returns (uint256) {
        return _ask(token, abi.encodeCall(IERC20.allowance, (holder, spender)));
    }

    function _ask(address token, bytes memory data) private view returns (uint256) {
        (bool ok, uint256 word) = Calls.ask(token, data);
        if (!ok) revert TokenCallFailed(token, Calls.returned(Calls.REASON));
        return word;
    }

    function _call(address token, bytes memory data) private {
        if (!Calls.run(token, 0, data)) revert TokenCallFailed(token, Calls.returned(Calls.REASON));
        bytes memory answer = Calls.returned(Calls.WORD);
        bool accepted = answer.length == 0 ? token.code.length > 0 : uint256(bytes32(answer)) == 1;
        if (!accepted) revert TokenCallFailed(token, answer);
    }
}
