// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20, IWrappedNative} from "../shared/IERC20.sol";
import {ReentrancyGuard} from "../shared/ReentrancyGuard.sol";
import {Transfers} from "../shared/Transfers.sol";
import {Depository} from "./Depository.sol";

/// One origin swap and the deposit of its whole output. The zero address stands for native coin.
struct SwapAndDeposit {
    address tokenIn;
    /// Taken from the sender; equal to `msg.value` for native coin.
    uint256 amountIn;
    address tokenOut;
    uint256 minAmountOut;
    /// Credited with the deposit; zero means the sender.
    address depositor;
    /// Order id.
    bytes32 id;
    /// Calldata for the swap router. It must send the output to this contract, and it names the
    /// wrapped token where native coin goes in or out.
    bytes swapData;
}

/// Swaps on the origin chain and deposits the result in one transaction. It spends only what its
/// sender hands over in the same call, through one swap router fixed at construction, and it leaves
/// neither balances nor allowances behind.
contract DepositRouter is ReentrancyGuard {
    Depository public immutable depository;
    address public immutable swapRouter;
    IWrappedNative public immutable wrappedNative;

    error SameToken();
    error WrongValue();
    error SwapFailed(bytes reason);
    error InsufficientOutput(uint256 amountOut, uint256 minAmountOut);
    error UnexpectedNative();

    constructor(Depository depository_, address swapRouter_, IWrappedNative wrappedNative_) {
        depository = depository_;
        swapRouter = swapRouter_;
        wrappedNative = wrappedNative_;
    }

    /// Native coin comes in by `swapAndDeposit`, or from unwrapping.
    receive() external payable {
        if (msg.sender != address(wrappedNative)) revert UnexpectedNative();
    }

    function swapAndDeposit(SwapAndDeposit calldata request)
        external
        payable
        nonReentrant
        returns (uint256 amountOut)
    {
        address tokenIn = _erc20Of(request.tokenIn);
        address tokenOut = _erc20Of(request.tokenOut);
        if (tokenIn == tokenOut) revert SameToken();

        uint256 inBefore = IERC20(tokenIn).balanceOf(address(this));
        uint256 outBefore = IERC20(tokenOut).balanceOf(address(this));
        _takeInput(request);
        _swap(tokenIn, IERC20(tokenIn).balanceOf(address(this)) - inBefore, request.swapData);

        amountOut = IERC20(tokenOut).balanceOf(address(this)) - outBefore;
        if (amountOut < request.minAmountOut) revert InsufficientOutput(amountOut, request.minAmountOut);
        _deposit(request, amountOut);
        _refund(request.tokenIn, IERC20(tokenIn).balanceOf(address(this)) - inBefore);
    }

    function _takeInput(SwapAndDeposit calldata request) private {
        if (request.tokenIn == address(0)) {
            if (msg.value != request.amountIn) revert WrongValue();
            wrappedNative.deposit{value: msg.value}();
        } else {
            if (msg.value != 0) revert WrongValue();
            Transfers.pull(request.tokenIn, msg.sender, address(this), request.amountIn);
        }
    }

    function _swap(address tokenIn, uint256 amountIn, bytes calldata swapData) private {
        Transfers.allow(tokenIn, swapRouter, amountIn);
        (bool ok, bytes memory reason) = swapRouter.call(swapData);
        if (!ok) revert SwapFailed(reason);
        if (IERC20(tokenIn).allowance(address(this), swapRouter) > 0) Transfers.allow(tokenIn, swapRouter, 0);
    }

    function _deposit(SwapAndDeposit calldata request, uint256 amount) private {
        address depositor = request.depositor == address(0) ? msg.sender : request.depositor;
        if (request.tokenOut == address(0)) {
            wrappedNative.withdraw(amount);
            depository.depositNative{value: amount}(depositor, request.id);
        } else {
            Transfers.allow(request.tokenOut, address(depository), amount);
            depository.depositErc20(depositor, request.tokenOut, amount, request.id);
        }
    }

    function _refund(address tokenIn, uint256 unused) private {
        if (unused == 0) return;
        if (tokenIn == address(0)) {
            wrappedNative.withdraw(unused);
            Transfers.pushNative(msg.sender, unused);
        } else {
            Transfers.push(tokenIn, msg.sender, unused);
        }
    }

    function _erc20Of(address token) private view returns (address) {
        return token == address(0) ? address(wrappedNative) : token;
    }
}
