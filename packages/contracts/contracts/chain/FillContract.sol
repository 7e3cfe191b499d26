// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuard} from "../shared/ReentrancyGuard.sol";
import {Transfers} from "../shared/Transfers.sol";
import {FillCall, OrderClone} from "./OrderClone.sol";

struct NativePayment {
    address to;
    uint256 amount;
}

struct Erc20Payment {
    address token;
    address to;
    uint256 amount;
}

/// The calls of an order, which run from a clone of their own. The filler pays what they spend to the clone's
/// address, which `cloneOf` tells.
struct OrderCalls {
    bytes32 orderSalt;
    /// Gets what the calls leave over.
    address recipient;
    /// Tokens that calls may leave over; native coin always goes to the recipient.
    address[] sweptTokens;
    FillCall[] calls;
}

/// Pays what an order, a claim or a refund owes, at most once for each filler, and proves it by events.
/// `id` is recorded: the id of the order, the claim or the refund. Whoever fills appends the 32-byte order id to
/// the calldata: readers look for it there, and the ABI decoder ignores trailing bytes. Nobody has a privilege,
/// and nothing is held between two transactions.
contract FillContract is ReentrancyGuard {
    enum State {
        Open,
        Paid,
        Closed
    }

    /// Code that every clone delegates to.
    OrderClone public immutable implementation = new OrderClone();

    /// A record of each sender's own, so that a stranger who uses an id first blocks nobody.
    mapping(address filler => mapping(bytes32 id => State)) public stateOf;

    event Paid(address indexed filler, bytes32 indexed id);
    event Closed(address indexed filler, bytes32 indexed id);
    event SolverNativeTransfer(address to, uint256 amount);
    event SolverCallExecuted(address to, bytes data, uint256 amount);

    error AlreadyPaid(bytes32 id);
    error AlreadyClosed(bytes32 id);
    error DeadlinePassed(uint256 deadline);
    error WrongValue(uint256 sent, uint256 needed);
    error CloneNotCreated(bytes32 salt);

    /// Pays all or nothing. Tokens come from the sender's own allowance, native coin from `msg.value`, which
    /// must be the sum of it. `deadline` in Unix seconds: in a later block nothing is paid.
    function pay(
        bytes32 id,
        uint256 deadline,
        NativePayment[] calldata nativePayments,
        Erc20Payment[] calldata erc20Payments
    ) external payable nonReentrant {
        _record(id, deadline);
        _pay(nativePayments, erc20Payments);
    }

    /// As `pay`, and then the calls, exactly as given, in order. They spend what their clone holds.
    function fill(
        bytes32 id,
        uint256 deadline,
        NativePayment[] calldata nativePayments,
        Erc20Payment[] calldata erc20Payments,
        OrderCalls calldata orderCalls
    ) external payable nonReentrant {
        _record(id, deadline);
        _pay(nativePayments, erc20Payments);
        FillCall[] calldata calls = orderCalls.calls;
        // These events come before the first call, so that all transfers before them are the payments and none
        // is a call's. A call that fails reverts them as well.
        for (uint256 i = 0; i < calls.length; ++i) {
            emit SolverCallExecuted(calls[i].to, calls[i].data, calls[i].value);
        }
        bytes32 salt = _salt(msg.sender, orderCalls.orderSalt, orderCalls.recipient, calls);
        _clone(salt).run(calls, orderCalls.sweptTokens, orderCalls.recipient);
    }

    /// Afterwards this sender cannot pay the id any more. An id that is paid cannot be closed.
    function close(bytes32 id) external {
        if (stateOf[msg.sender][id] == State.Paid) revert AlreadyPaid(id);
        stateOf[msg.sender][id] = State.Closed;
        emit Closed(msg.sender, id);
    }

    /// Address from which the calls of an order run when `filler` fills it. The filler is a part of it, because
    /// whoever runs calls leaves their approvals behind: a stranger who ran them first would spoil the address.
    function cloneOf(address filler, bytes32 orderSalt, address recipient, FillCall[] calldata calls)
        external
        view
        returns (address)
    {
        bytes32 salt = _salt(filler, orderSalt, recipient, calls);
        bytes32 codeHash = keccak256(_cloneCode());
        bytes memory parts = abi.encodePacked(bytes1(0xff), address(this), salt, codeHash);
        return address(uint160(uint256(keccak256(parts))));
    }

    function _record(bytes32 id, uint256 deadline) private {
        if (block.timestamp > deadline) revert DeadlinePassed(deadline);
        State state = stateOf[msg.sender][id];
        if (state == State.Paid) revert AlreadyPaid(id);
        if (state == State.Closed) revert AlreadyClosed(id);
        stateOf[msg.sender][id] = State.Paid;
        emit Paid(msg.sender, id);
    }

    function _pay(NativePayment[] calldata nativePayments, Erc20Payment[] calldata erc20Payments) private {
        for (uint256 i = 0; i < erc20Payments.length; ++i) {
            Erc20Payment calldata payment = erc20Payments[i];
            Transfers.pull(payment.token, msg.sender, payment.to, payment.amount);
        }
        uint256 needed = 0;
        for (uint256 i = 0; i < nativePayments.length; ++i) needed += nativePayments[i].amount;
        if (msg.value != needed) revert WrongValue(msg.value, needed);
        for (uint256 i = 0; i < nativePayments.length; ++i) {
            NativePayment calldata payment = nativePayments[i];
            Transfers.pushNative(payment.to, payment.amount);
            emit SolverNativeTransfer(payment.to, payment.amount);
        }
    }

    function _clone(bytes32 salt) private returns (OrderClone clone) {
        bytes memory code = _cloneCode();
        assembly ("memory-safe") {
            clone := create2(0, add(code, 0x20), mload(code), salt)
        }
        if (address(clone) == address(0)) revert CloneNotCreated(salt);
    }

    /// The creation code of a minimal proxy (EIP-1167).
    function _cloneCode() private view returns (bytes memory) {
        return abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73",
            address(implementation),
            hex"5af43d82803e903d91602b57fd5bf3"
        );
    }

    function _salt(address filler, bytes32 orderSalt, address recipient, FillCall[] calldata calls)
        private
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(filler, orderSalt, recipient, keccak256(abi.encode(calls))));
    }
}
