// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CleanupRouter} from "../../contracts/chain/CleanupRouter.sol";
import {DepositAddresses, DepositTerms} from "../../contracts/chain/DepositAddresses.sol";
import {Call, CallRequest, CallResult, Depository} from "../../contracts/chain/Depository.sol";
import {DepositRouter, SwapAndDeposit} from "../../contracts/chain/DepositRouter.sol";
import {Erc20Payment, FillContract, NativePayment, OrderCalls} from "../../contracts/chain/FillContract.sol";
import {FillCall, OrderClone} from "../../contracts/chain/OrderClone.sol";
import {Permit2Router, PermitBatchTransferFrom} from "../../contracts/chain/Permit2Router.sol";
import {PermitRouter, SignedDeposit} from "../../contracts/chain/PermitRouter.sol";
import {Call3Value, TokenPermissions} from "../../contracts/chain/PermittedCalls.sol";
import {Transfers} from "../../contracts/shared/Transfers.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Accepting, Answerer, Burner} from "./Adversaries.sol";
import {Base} from "./Base.sol";
import {LongWinded} from "./Tokens.sol";

/// Whoever is called answers with up to 600,000 bytes: nobody pays for that but in the gas that the callee was given.
contract ReturnedDataTest is Base {
    uint256 private constant NEVER = type(uint256).max;
    /// Of a call's caller, for an answer of any size.
    uint256 private constant EXTRA_GAS = 1_000;
    uint256 private constant REASON = 256;

    FillContract private fills;
    Depository private depository;
    Answerer private answerer;
    LongWinded private token;
    HostileToken private other;
    uint256 private count;
    uint256 private gasUsed;
    mapping(string name => address) private placed;

    function setUp() public {
        fills = FillContract(ship("FillContract", ""));
        depository = Depository(ship("Depository", abi.encode(address(this))));
        (answerer, token, other) = (new Answerer(), new LongWinded(), new HostileToken());
        depository.initialize(address(this), address(answerer));
        vm.deal(address(this), 1e30);
        vm.deal(address(depository), 1e30);
        token.mint(address(this), 1e30);
        token.approve(address(fills), 1e30);
    }

    function testFuzz_aRecipientsAnswer(uint256 size, bool fails) public {
        _compare(_payNative, size, fails, 1);
    }

    function testFuzz_aTokensAnswer(uint256 size) public {
        _compareToken(_payToken, size, 1);
        // The payment, the balance and the rest.
        _compareToken(_fillAndSweep, size, 3);
    }

    function testFuzz_aFailingTokensReason(uint256 size) public {
        _compare(_payAnswerer, size, true, 1);
    }

    function testFuzz_theAnswerOfAnOrdersCall(uint256 size, bool fails) public {
        _compare(_fillAnswerer, size, fails, 1);
    }

    /// What follows a failure that is allowed is still done.
    function testFuzz_theAnswerOfASignedCall(uint256 size, bool fails) public {
        depository.setAllocator(vm.addr(1));
        _compare(_execute, size, fails, 1);
    }

    function testFuzz_theAnswerOfASigner(uint256 size, bool fails) public {
        _compare(_signedByAnswerer, size, fails, 1);
    }

    function testFuzz_theAnswerOfAPermittedCall(uint256 size, bool fails) public {
        _compare(_permittedCalls, size, fails, 1);
    }

    function testFuzz_answersToTheCleanupRouter(uint256 size, bool fails) public {
        _compare(_cleanupCall, size, fails, 1);
        // Balance, allowance, approval, allowance, approval.
        _compareToken(_cleanupToken, size, 5);
    }

    function testFuzz_answersToTheDepositRouter(uint256 size, bool fails) public {
        _compare(_swapByAnswerer, size, fails, 1);
        // Three balances, the input, two approvals, an allowance and the rest.
        _compareToken(_swapByAnswerer, size, 8);
    }

    function testFuzz_answersToDepositAddresses(uint256 size) public {
        _compareToken(_withdraw, size, 2);
    }

    /// A permit that fails is none, at whatever length.
    function testFuzz_answersToThePermitRouter(uint256 size) public {
        _compareToken(_depositWithPermit, size, 4);
    }

    /// A token's answer is nothing, or a word that is 1: no other one moves an order on.
    function testFuzz_whatATokenMaySay(uint256 size, uint256 word, uint8 kind) public {
        size = [0, 1, 31, 32, 64, within(size, 0, 1_000)][kind % 6];
        word = [0, 1, 2, word][kind / 6 % 4];
        answerer.tell(false, size, word);
        bool isTrue = size == 0 || (size >= 32 && word == 1);
        if (!isTrue) vm.expectPartialRevert(Transfers.TokenCallFailed.selector);
        fills.pay("id", NEVER, new NativePayment[](0), _payment(address(answerer), address(1), 1));
        vm.expectRevert(abi.encodeWithSelector(Transfers.TokenCallFailed.selector, address(0xdead), ""));
        fills.pay("other", NEVER, new NativePayment[](0), _payment(address(0xdead), address(1), 1));
    }

    /// A reason is readable, and no longer than its bound.
    function testFuzz_reasonsAreReadable(uint256 size, uint256 word) public {
        size = within(size, 4, 600_000);
        answerer.tell(true, size, word);
        bytes memory reason = abi.encodePacked(word, new bytes(REASON - 32));
        assembly {
            if lt(size, mload(reason)) { mstore(reason, size) }
        }
        (, bytes memory told) = _send(address(fills), 0, _fillData());
        same(told, abi.encodeWithSelector(OrderClone.CallFailed.selector, 0, reason), "error of a call");
        (, told) = _send(address(fills), 0, _pay(_payment(address(answerer), address(1), 1)));
        same(told, abi.encodeWithSelector(Transfers.TokenCallFailed.selector, answerer, reason), "error of a token");
    }

    /// Whoever burns all gas stops the payment with an error, and burns no more than the sender's limit.
    function testFuzz_burnedGasStopsWithAnError(uint256 gas) public {
        address burner = address(new Burner());
        NativePayment[] memory list = _native(1);
        list[0].to = burner;
        vm.expectRevert(abi.encodeWithSelector(Transfers.NativeTransferFailed.selector, burner, 1));
        fills.pay{value: 1, gas: within(gas, 300_000, 20_000_000)}(
            "id", NEVER, list, new Erc20Payment[](0)
        );
    }

    function _compare(function() internal run, uint256 size, bool fails, uint256 calls) private {
        size = within(size, 32, 600_000);
        // As a signer says yes.
        uint256 word = uint256(0x1626ba7e) << 224;
        answerer.tell(fails, 32, word);
        run();
        (uint256 quiet, uint256 own) = (_gasOf(run), _gasOf(_askAnswerer));
        answerer.tell(fails, size, word);
        uint256 loud = _gasOf(run);
        atMost(loud, quiet + calls * (_gasOf(_askAnswerer) - own) + calls * EXTRA_GAS, "gas for a long answer");
    }

    function _compareToken(function() internal run, uint256 size, uint256 calls) private {
        size = within(size, 32, 600_000);
        answerer.tell(false, 32, 1);
        token.tell(32);
        run();
        (uint256 quiet, uint256 own) = (_gasOf(run), _gasOf(_askToken));
        token.tell(size);
        uint256 loud = _gasOf(run);
        atMost(loud, quiet + calls * (_gasOf(_askToken) - own) + calls * EXTRA_GAS, "gas for a token's long answer");
        token.tell(32);
    }

    function _gasOf(function() internal run) private returns (uint256) {
        run();
        return gasUsed;
    }

    /// Counts the gas of the call alone. Copies no more than a test reads.
    function _send(address to, uint256 value, bytes memory data) private returns (bool ok, bytes memory answer) {
        answer = new bytes(2_048);
        uint256 used;
        uint256 size;
        assembly {
            used := gas()
            ok := call(gas(), to, value, add(data, 0x20), mload(data), 0, 0)
            used := sub(used, gas())
            size := returndatasize()
            if lt(size, 2049) {
                mstore(answer, size)
                returndatacopy(add(answer, 0x20), 0, size)
            }
        }
        gasUsed = used;
    }

    function _next() private returns (bytes32) {
        return bytes32(++count);
    }

    /// The contract of this name, placed where it is asked for first.
    function _once(string memory name, bytes memory arguments) private returns (address) {
        if (placed[name] == address(0)) placed[name] = ship(name, arguments);
        return placed[name];
    }

    function _native(uint256 amount) private view returns (NativePayment[] memory list) {
        list = new NativePayment[](1);
        list[0] = NativePayment(address(answerer), amount);
    }

    function _payment(address of_, address to, uint256 amount) private pure returns (Erc20Payment[] memory list) {
        list = new Erc20Payment[](1);
        list[0] = Erc20Payment(of_, to, amount);
    }

    function _pay(Erc20Payment[] memory list) private returns (bytes memory) {
        return abi.encodeCall(fills.pay, (_next(), NEVER, new NativePayment[](0), list));
    }

    function _askAnswerer() private {
        _send(address(answerer), 0, "");
    }

    function _askToken() private {
        _send(address(token), 0, abi.encodeCall(token.balanceOf, (address(this))));
    }

    function _payNative() private {
        bytes memory data = abi.encodeCall(fills.pay, (_next(), NEVER, _native(1), new Erc20Payment[](0)));
        (bool ok,) = _send(address(fills), 1, data);
        check(ok != answerer.fails(), "the outcome of a payment");
    }

    function _payToken() private {
        (bool ok,) = _send(address(fills), 0, _pay(_payment(address(token), address(1), 1)));
        check(ok, "not paid");
    }

    function _payAnswerer() private {
        (bool ok, bytes memory told) = _send(address(fills), 0, _pay(_payment(address(answerer), address(1), 1)));
        check(!ok, "a failing token was paid");
        atMost(told.length, 4 + 96 + REASON, "bytes of the error");
    }

    function _fillAndSweep() private {
        FillCall[] memory calls = new FillCall[](0);
        bytes32 id = _next();
        address clone = fills.cloneOf(address(this), id, address(1), calls);
        address[] memory swept = new address[](1);
        swept[0] = address(token);
        OrderCalls memory order = OrderCalls(id, address(1), swept, calls);
        Erc20Payment[] memory paid = _payment(address(token), clone, 1);
        (bool ok,) =
            _send(address(fills), 0, abi.encodeCall(fills.fill, (id, NEVER, new NativePayment[](0), paid, order)));
        check(ok, "not filled");
    }

    function _fillAnswerer() private {
        (bool ok, bytes memory told) = _send(address(fills), 0, _fillData());
        check(ok != answerer.fails(), "the outcome of a call");
        atMost(told.length, 4 + 96 + REASON, "bytes of the error");
    }

    function _fillData() private returns (bytes memory) {
        FillCall[] memory calls = new FillCall[](1);
        calls[0] = FillCall(address(answerer), "", 0);
        OrderCalls memory order = OrderCalls(0, address(1), new address[](0), calls);
        return abi.encodeCall(fills.fill, (_next(), NEVER, new NativePayment[](0), new Erc20Payment[](0), order));
    }

    function _execute() private {
        Call[] memory calls = new Call[](2);
        calls[0] = Call(address(answerer), "", 0, true);
        calls[1] = Call(address(0xcafe), "", 1, false);
        CallRequest memory request = CallRequest(calls, uint256(_next()), block.timestamp);
        bytes32 id = depository.hashCallRequest(request);
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", depository.DOMAIN_SEPARATOR(), id));
        uint256 before = address(0xcafe).balance;
        (, bytes memory answer) =
            _send(address(depository), 0, abi.encodeCall(depository.execute, (request, signed(1, digest))));
        CallResult[] memory results = abi.decode(answer, (CallResult[]));
        atMost(results[0].returnData.length, results[0].success ? 32 : REASON, "bytes of the answer");
        check(results[0].success != answerer.fails(), "the outcome of a call");
        same(address(0xcafe).balance, before + 1, "what follows");
    }

    function _signedByAnswerer() private {
        CallRequest memory request = CallRequest(new Call[](0), uint256(_next()), block.timestamp);
        (bool ok,) = _send(address(depository), 0, abi.encodeCall(depository.execute, (request, "signature")));
        check(ok != answerer.fails(), "whether it is signed");
    }

    function _permittedCalls() private {
        Permit2Router router = Permit2Router(_once("Permit2Router", ""));
        vm.etch(address(router.PERMIT2()), address(new Accepting()).code);
        Call3Value[] memory calls = new Call3Value[](1);
        calls[0] = Call3Value(address(answerer), true, 0, "");
        PermitBatchTransferFrom memory permit =
            PermitBatchTransferFrom(new TokenPermissions[](0), uint256(_next()), NEVER);
        (bool ok,) = _send(
            address(router),
            0,
            abi.encodeCall(
                router.permit2TransferAndMulticall, (address(1), permit, calls, address(1), address(1), "", "")
            )
        );
        check(ok, "not made");
    }

    function _cleanupCall() private {
        address router = _once("CleanupRouter", "");
        bytes memory data = abi.encodeCall(CleanupRouter.cleanupNativeViaCall, (0, address(answerer), ""));
        (bool ok,) = _send(router, 0, data);
        check(ok != answerer.fails(), "the outcome of a call");
    }

    function _cleanupToken() private {
        address router = _once("CleanupRouter", "");
        (address[] memory tokens, address[] memory tos) = (new address[](1), new address[](1));
        (tokens[0], tos[0]) = (address(token), address(answerer));
        token.mint(router, 1);
        bytes memory data = abi.encodeCall(
            CleanupRouter.cleanupErc20sViaCall, (tokens, tos, new bytes[](1), new uint256[](1))
        );
        (bool ok,) = _send(router, 0, data);
        check(ok, "not handed on");
    }

    function _swapByAnswerer() private {
        address router = _once("DepositRouter", abi.encode(depository, answerer, address(1)));
        uint256 size = token.size();
        token.tell(32);
        token.approve(router, 1);
        token.tell(size);
        SwapAndDeposit memory swap =
            SwapAndDeposit(address(token), 1, address(other), 0, address(this), _next(), "");
        (bool ok, bytes memory told) = _send(router, 0, abi.encodeCall(DepositRouter.swapAndDeposit, (swap)));
        check(ok != answerer.fails(), "the outcome of a swap");
        atMost(told.length, 4 + 64 + REASON, "bytes of the error");
    }

    function _withdraw() private {
        address router = _once("DepositAddresses", abi.encode(depository, address(0)));
        DepositTerms memory terms = DepositTerms(address(1), address(2), address(this), "nonce");
        token.mint(DepositAddresses(payable(router)).addressOf(terms), 1);
        (bool ok,) = _send(router, 0, abi.encodeCall(DepositAddresses.withdraw, (terms, address(token))));
        check(ok, "not withdrawn");
    }

    function _depositWithPermit() private {
        PermitRouter router = PermitRouter(_once("PermitRouter", abi.encode(depository)));
        SignedDeposit memory one = SignedDeposit(address(token), address(this), 1, NEVER, _next());
        uint256 size = token.size();
        token.tell(32);
        token.approve(router.spenderOf(one), 1);
        token.tell(size);
        (bool ok,) = _send(address(router), 0, abi.encodeCall(router.depositWithPermit, (one, new bytes(65))));
        check(ok, "not deposited");
    }
}
