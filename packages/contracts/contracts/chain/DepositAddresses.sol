// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuard} from "../shared/ReentrancyGuard.sol";
import {Signatures} from "../shared/Signatures.sol";
import {DepositSweep, ISweepOrigin} from "./DepositSweep.sol";

/// What an address may be used for. The address is made from it, so nothing of it can change.
struct DepositTerms {
    /// Signs the orders that the address may pay.
    address orderSigner;
    /// Sends the sweeps.
    address sweeper;
    /// Is credited with every deposit, and may take what lies at the address.
    address depositor;
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

/// Addresses that anybody can pay to, and that can only be emptied into the depository, for an order that
/// was signed for this very address. Nobody holds a key of them.
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

    address private transient sweptFor;
    bytes32 private transient sweptInto;
    address private transient sweptToken;

    error NotSweeper();
    error NotDepositor();
    error NotSigned();
    error OrderOfAnotherAddress();

    constructor(address depository_) {
        depository = depository_;
    }

    /// Deposits all native coin of the address, and all of `token` unless it is zero, for an order. The
    /// first 20 bytes of the order's salt are the address, and the order signer signed its id.
    function sweep(
        DepositTerms calldata terms,
        OrderWords calldata order,
        bytes calldata signature,
        address token
    ) external nonReentrant {
        if (msg.sender != terms.sweeper) revert NotSweeper();
        bytes32 orderId = keccak256(abi.encode(ORDER_TYPEHASH, order));
        bytes32 digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", orderId));
        address signer = Signatures.recover(digest, signature);
        if (signer == address(0) || signer != terms.orderSigner) revert NotSigned();
        if (address(uint160(order.salt >> 96)) != addressOf(terms)) revert OrderOfAnotherAddress();
        _sweep(terms, orderId, token);
    }

    /// Gives the depositor all native coin of the address, and all of `token` unless it is zero: what
    /// nobody sweeps is not lost.
    function withdraw(DepositTerms calldata terms, address token) external nonReentrant {
        if (msg.sender != terms.depositor) revert NotDepositor();
        _sweep(terms, 0, token);
    }

    /// What the sweep that runs now is for.
    function current() external view returns (address, address, bytes32, address) {
        return (depository, sweptFor, sweptInto, sweptToken);
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

    function _sweep(DepositTerms calldata terms, bytes32 orderId, address token) private {
        (sweptFor, sweptInto, sweptToken) = (terms.depositor, orderId, token);
        new DepositSweep{salt: _salt(terms)}();
    }

    function _salt(DepositTerms calldata terms) private pure returns (bytes32) {
        return keccak256(abi.encode(terms));
    }
}
