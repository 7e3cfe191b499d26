// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Calls} from "../shared/Calls.sol";
import {IWrappedNative} from "../shared/IERC20.sol";
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

/// One swap that ends on its chain. The zero address stands for native coin.
struct SwapAndPay {
    address tokenIn;
    /// Taken from the sender; equal to `msg.value` for native coin.
    uint256 amountIn;
    address tokenOut;
    uint256 minAmountOut;
    /// Gets the whole output; zero means the sender.
    address recipient;
    /// Request id.
    bytes32 id;
    /// As in `SwapAndDeposit`.
    bytes swapData;
}

/// Swaps on the origin chain and deposits the result, or pays it out, in one transaction. It spends only what
/// its sender hands over in the same call, through one swap router fixed at construction, and it leaves
/// neither balances nor allowances behind.
contract DepositRouter is ReentrancyGuard {
    Depository public immutable depository;
    address public immutable swapRouter;
    IWrappedNative public immutable wrappedNative;

    /// `recipient` was paid all of `amountOut` for `amountIn`, which is what was spent. Anybody can name any id:
    /// only the amounts, the currencies and the recipient say whether a request is done.
    event SwapPaid(
        bytes32 indexed id,
        address recipient,
        address tokenIn,
        uint256 amountIn,
        address tokenOut,
        uint256 amountOut
    );

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

    /// Takes coin from unwrapping alone. The input of a swap comes as the value of the swap's own call.
    receive() external payable {
        if (msg.sender != address(wrappedNative)) revert UnexpectedNative();
    }

    function swapAndDeposit(SwapAndDeposit calldata request)
        external
        payable
        nonReentrant
        returns (uint256 amountOut)
    {
        uint256 unused;
        (amountOut, unused) =
            _exchange(request.tokenIn, request.amountIn, request.tokenOut, request.minAmountOut, request.swapData);
        _deposit(request, amountOut);
        _refund(request.tokenIn, unused);
    }

    function swapAndPay(SwapAndPay calldata request) external payable nonReentrant returns (uint256 amountOut) {
        uint256 unused;
        (amountOut, unused) =
            _exchange(request.tokenIn, request.amountIn, request.tokenOut, request.minAmountOut, request.swapData);
        address recipient = request.recipient == address(0) ? msg.sender : request.recipient;
        _pay(request.tokenOut, recipient, amountOut);
        _refund(request.tokenIn, unused);
        emit SwapPaid(
            request.id, recipient, request.tokenIn, request.amountIn - unused, request.tokenOut, amountOut
        );
    }

    /// Takes the input and swaps it. What was here before is no part of either amount.
    function _exchange(
        address tokenIn,
        uint256 amountIn,
        address tokenOut,
        uint256 minAmountOut,
        bytes calldata swapData
    ) private returns (uint256 amountOut, uint256 unused) {
        address erc20In = _erc20Of(tokenIn);
        address erc20Out = _erc20Of(tokenOut);
        if (erc20In == erc20Out) revert SameToken();

        uint256 inBefore = Transfers.heldBy(erc20In, address(this));
        uint256 outBefore = Transfers.heldBy(erc20Out, address(this));
        _takeInput(tokenIn, amountIn);
        _swap(erc20In, Transfers.heldBy(erc20In, address(this)) - inBefore, swapData);

        amountOut = Transfers.heldBy(erc20Out, address(this)) - outBefore;
        if (amountOut < minAmountOut) revert InsufficientOutput(amountOut, minAmountOut);
        unused = Transfers.heldBy(erc20In, address(this)) - inBefore;
    }

    function _takeInput(address tokenIn, uint256 amountIn) private {
        if (tokenIn == address(0)) {
            if (msg.value != amountIn) revert WrongValue();
            wrappedNative.deposit{value: msg.value}();
        } else {
            if (msg.value != 0) revert WrongValue();
            Transfers.pull(tokenIn, msg.sender, address(this), amountIn);
        }
    }

    function _swap(address tokenIn, uint256 amountIn, bytes calldata swapData) private {
        Transfers.allow(tokenIn, swapRouter, amountIn);
        if (!Calls.run(swapRouter, 0, swapData)) revert SwapFailed(Calls.returned(Calls.REASON));
        if (Transfers.allowed(tokenIn, address(this), swapRouter) > 0) Transfers.allow(tokenIn, swapRouter, 0);
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
        if (unused > 0) _pay(tokenIn, msg.sender, unused);
    }

    function _pay(address token, address to, uint256 amount) private {
        if (token == address(0)) {
            wrappedNative.withdraw(amount);
            Transfers.pushNative(to, amount);
        } else {
            Transfers.push(token, to, amount);
        }
    }

    function _erc20Of(address token) private view returns (address) {
        return token == address(0) ? address(wrappedNative) : token;
    }
}
