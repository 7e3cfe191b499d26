// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuard} from "../shared/ReentrancyGuard.sol";
import {Signatures} from "../shared/Signatures.sol";
import {Transfers} from "../shared/Transfers.sol";
import {DepositRouter, SwapAndDeposit} from "./DepositRouter.sol";
import {DepositSweep, ISweepOrigin} from "./DepositSweep.sol";

/// Terms for the use of an address. The address is made from them, so none of them can change.
struct DepositTerms {
    /// Signs the orders that the address may pay.
    address orderSigner;
    /// Sends the sweeps.
    address sweeper;
    /// Is credited with every deposit, and may take what lies at the address.
    address depositor;
    /// Random, so that equal terms may have several addresses.
    bytes32 nonce;
}

/// The words of an order's EIP-712 struct that follow its type hash; all but two are hashes.
struct OrderWords {
    bytes32 version;
    bytes32 solverChainId;
    address solver;
    uint256 salt;
    bytes32 inputs;
    bytes32 output;
    bytes32 fees;
}

/// The lowest price at which money is swapped before its deposit. The zero address stands for native coin.
struct SwapTerms {
    address tokenIn;
    uint256 amountIn;
    address tokenOut;
    /// Least output for `amountIn`; another amount must yield its share of this.
    uint256 minAmountOut;
    /// Random, so that orders with equal swaps have different salts.
    bytes32 nonce;
}

/// Addresses that anybody can pay to, and that can only be emptied into the depository, for an order that
/// was signed for this very address, through a swap where the order names one. Nobody holds a key of them.
contract DepositAddresses is ISweepOrigin, ReentrancyGuard {
    bytes32 private constant ORDER_TYPEHASH = keccak256(
        "Order(string version,string solverChainId,address solver,uint256 salt,Input[] inputs,Output output,Fee[] fees)"
        "Fee(string recipientChainId,bytes recipient,string currencyChainId,bytes currency,uint256 amount)"
        "Input(InputPayment payment,InputRefund[] refunds)"
        "InputPayment(string chainId,bytes currency,uint256 amount,uint256 weight)"
        "InputRefund(string chainId,bytes recipient,bytes currency,uint256 minimumAmount,uint32 deadline,bytes extraData)"
        "Output(string chainId,OutputPayment[] payments,uint32 deadline,bytes[] calls,bytes extraData)"
        "OutputPayment(bytes recipient,bytes currency,uint256 minimumAmount,uint256 expectedAmount)"
    );
    /// Part of every address.
    bytes32 public constant SWEEP_CODE_HASH = keccak256(type(DepositSweep).creationCode);

    address public immutable depository;
    /// Deposits into the same depository; zero where nothing can be swapped.
    DepositRouter public immutable depositRouter;

    /// Terms of the sweep that runs now: its depositor, its order (0 for a withdrawal), a token beside native coin
    /// (0 for none), and the amount to swap (0 for a deposit of everything). See `current`.
    address private transient sweptFor;
    bytes32 private transient sweptInto;
    address private transient sweptToken;
    uint256 private transient swapped;

    error NotSweeper();
    error NotDepositor();
    error NotSigned();
    error OrderOfAnotherAddress();
    error SwapOfAnotherOrder();
    error NothingToSwap();
    error InputLeft();
    error UnexpectedNative();

    constructor(address depository_, DepositRouter depositRouter_) {
        depository = depository_;
        depositRouter = depositRouter_;
    }

    /// Native coin comes in from an address that is being emptied for a swap.
    receive() external payable {
        if (swapped == 0 || sweptToken != address(0)) revert UnexpectedNative();
    }

    /// Deposits all native coin of the address, and all of `token` unless it is zero, for an order. The
    /// first 20 bytes of the order's salt are the address, and the order signer signed its id.
    function sweep(
        DepositTerms calldata terms,
        OrderWords calldata order,
        bytes calldata signature,
        address token
    ) external nonReentrant {
        _sweep(terms, _orderFor(terms, order, signature), token, 0);
    }

    /// Swaps `amount` of what lies at the address and deposits the whole output for an order. The order's salt is the
    /// address, then the last 12 bytes of the hash of the swap: whoever signed the order signed its price with it.
    /// @param swapData as in `SwapAndDeposit`; the price holds whatever it is
    function sweepAndSwap(
        DepositTerms calldata terms,
        OrderWords calldata order,
        bytes calldata signature,
        SwapTerms calldata swap,
        uint256 amount,
        bytes calldata swapData
    ) external nonReentrant {
        bytes32 orderId = _orderFor(terms, order, signature);
        if (uint96(order.salt) != uint96(uint256(keccak256(abi.encode(swap))))) revert SwapOfAnotherOrder();
        if (amount == 0) revert NothingToSwap();
        uint256 before = _held(swap.tokenIn);
        _sweep(terms, orderId, swap.tokenIn, amount);
        // From here on no native coin may come in, so that a swap which gives some back fails.
        swapped = 0;
        _swap(terms.depositor, orderId, swap, amount, swapData);
        // An exact input leaves nothing; what would stay here would be nobody's.
        if (_held(swap.tokenIn) != before) revert InputLeft();
    }

    /// Gives the depositor all native coin of the address, and all of `token` unless it is zero: what
    /// nobody sweeps is not lost. The sweeper may do so too, where a swap fails.
    function withdraw(DepositTerms calldata terms, address token) external nonReentrant {
        if (msg.sender != terms.depositor && msg.sender != terms.sweeper) revert NotDepositor();
        _sweep(terms, 0, token, 0);
    }

    /// The sweep that runs now, for `DepositSweep`: depository, depositor, order id, token and amount to swap.
    function current() external view returns (address, address, bytes32, address, uint256) {
        return (depository, sweptFor, sweptInto, sweptToken, swapped);
    }

    function addressOf(DepositTerms calldata terms) public view returns (address) {
        return address(
            uint160(
                uint256(
                    keccak256(abi.encodePacked(bytes1(0xff), address(this), _salt(terms), SWEEP_CODE_HASH))
                )
            )
        );
    }

    /// The order's id, where this sender may sweep the address for it.
    function _orderFor(DepositTerms calldata terms, OrderWords calldata order, bytes calldata signature)
        private
        view
        returns (bytes32 orderId)
    {
        if (msg.sender != terms.sweeper) revert NotSweeper();
        orderId = keccak256(abi.encode(ORDER_TYPEHASH, order));
        bytes32 digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", orderId));
        address signer = Signatures.recover(digest, signature);
        if (signer == address(0) || signer != terms.orderSigner) revert NotSigned();
        if (address(uint160(order.salt >> 96)) != addressOf(terms)) revert OrderOfAnotherAddress();
    }

    function _swap(
        address depositor,
        bytes32 orderId,
        SwapTerms calldata swap,
        uint256 amount,
        bytes calldata swapData
    ) private {
        bool isNative = swap.tokenIn == address(0);
        if (!isNative) Transfers.allow(swap.tokenIn, address(depositRouter), amount);
        depositRouter.swapAndDeposit{value: isNative ? amount : 0}(
            SwapAndDeposit({
                tokenIn: swap.tokenIn,
                amountIn: amount,
                tokenOut: swap.tokenOut,
                // Rounded up, so that no share is cheaper than the whole.
                minAmountOut: (swap.minAmountOut * amount + swap.amountIn - 1) / swap.amountIn,
                depositor: depositor,
                id: orderId,
                swapData: swapData
            })
        );
    }

    function _held(address token) private view returns (uint256) {
        return token == address(0) ? address(this).balance : Transfers.heldBy(token, address(this));
    }

    function _sweep(DepositTerms calldata terms, bytes32 orderId, address token, uint256 swapAmount) private {
        (sweptFor, sweptInto, sweptToken, swapped) = (terms.depositor, orderId, token, swapAmount);
        new DepositSweep{salt: _salt(terms)}();
    }

    function _salt(DepositTerms calldata terms) private pure returns (bytes32) {
        return keccak256(abi.encode(terms));
    }
}
