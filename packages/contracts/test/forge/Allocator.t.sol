// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CallRequest, Depository} from "../../contracts/chain/Depository.sol";
import {Allocator} from "../../contracts/hub/Allocator.sol";
import {OracleMultisig} from "../../contracts/hub/OracleMultisig.sol";
import {PayloadBuilder, SubmitWithdrawRequest} from "../../contracts/hub/payloadBuilders/PayloadBuilder.sol";
import {Owned} from "../../contracts/shared/Owned.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Base} from "./Base.sol";
import {Texts} from "./Texts.sol";

contract AllocatorTest is Base {
    uint256 private constant ALLOCATOR_KEY = 0xa110;

    Allocator private allocator;
    Depository private depository;
    PayloadBuilder private builder;
    HostileToken private token;
    address private multisig;
    address private signer = address(0x5169);
    /// By address.
    uint256[] private keys;

    function setUp() public {
        keys = vm.addr(1) < vm.addr(2) ? [uint256(1), 2] : [uint256(2), 1];
        address[] memory signers = new address[](2);
        (signers[0], signers[1]) = (vm.addr(1), vm.addr(2));
        multisig = ship("OracleMultisig", abi.encode(address(this)));
        OracleMultisig(multisig).initialize(address(this), signers, 2);
        builder = PayloadBuilder(ship("EvmPayloadBuilder", ""));
        depository = Depository(ship("Depository", abi.encode(address(this))));
        depository.initialize(address(this), vm.addr(ALLOCATOR_KEY));
        token = new HostileToken();
        allocator = _new();
    }

    function _new() private returns (Allocator placed) {
        placed = Allocator(ship("Allocator", abi.encode(address(this))));
        Allocator.BuilderEntry[] memory builders = new Allocator.BuilderEntry[](1);
        builders[0] = Allocator.BuilderEntry(block.chainid, Texts.hexOf(address(depository)), builder);
        placed.initialize(address(this), multisig, signer, builders);
    }

    /// From the oracles' signatures to the depository: the receiver gets the amount, once, and nobody anything else.
    function testFuzz_aRequestIsPaidExactlyAndOnce(uint96 amount, address receiver, bool isNative) public {
        vm.assume(uint160(receiver) > 0xffff && receiver.code.length == 0 && receiver != address(depository));
        vm.deal(address(depository), 2 * uint256(amount));
        token.mint(address(depository), 2 * uint256(amount));
        SubmitWithdrawRequest memory request = _request(amount);
        request.currency = Texts.hexOf(isNative ? address(0) : address(token));
        request.receiver = Texts.hexOf(receiver);
        (uint256 coin, uint256 tokens) = (receiver.balance, token.balanceOf(receiver));
        bytes32 id = allocator.submitWithdrawRequest(request, _signed(request));
        bytes memory payload = allocator.payloads(id);
        bytes32 hash = builder.hashToSign(block.chainid, request.depository, payload, 0);
        bytes memory signature = signed(ALLOCATOR_KEY, hash);
        vm.prank(signer);
        allocator.storeSignature(id, hash, signature);
        CallRequest memory call = abi.decode(payload, (CallRequest));
        depository.execute(call, allocator.signedPayloads(id, hash));
        same(receiver.balance - coin, isNative ? amount : 0, "coin of the receiver");
        same(token.balanceOf(receiver) - tokens, isNative ? 0 : amount, "tokens of the receiver");
        vm.expectRevert(Depository.CallRequestAlreadyUsed.selector);
        depository.execute(call, signature);
        bytes memory again = _signed(request);
        vm.expectRevert(Allocator.NonceUsed.selector);
        allocator.submitWithdrawRequest(request, again);
    }

    function testFuzz_oneRequestForANonce(uint96 amount, uint96 other, bytes32 nonce) public {
        SubmitWithdrawRequest memory request = _request(amount);
        request.nonce = nonce;
        bytes32 id = allocator.submitWithdrawRequest(request, _signed(request));
        bytes memory payload = allocator.payloads(id);
        request.amount = other;
        bytes memory signature = _signed(request);
        vm.expectRevert(Allocator.NonceUsed.selector);
        allocator.submitWithdrawRequest(request, signature);
        same(allocator.payloads(id), payload, "payload");
        check(allocator.payloadIdOf(request.spender, nonce) == id, "id of the nonce");
    }

    function testFuzz_onlyWhatTheOraclesSigned(uint96 amount, uint8 change, uint256 seed) public {
        SubmitWithdrawRequest memory request = _request(amount);
        bytes memory signature = _signed(request);
        change = change % 9;
        if (change == 0) request.amount += 1;
        else if (change == 1) request.receiver = Texts.hexOf(address(uint160(within(seed, 1, 1e9))));
        else if (change == 2) request.currency = Texts.hexOf(address(uint160(within(seed, 1, 1e9))));
        else if (change == 3) request.spender = address(uint160(within(seed, 1, 1e9)));
        else if (change == 4) request.nonce = keccak256(abi.encode(seed));
        else if (change == 5) request.data = abi.encode(seed);
        else if (change == 6) vm.chainId(block.chainid + 1 + seed % 1e9);
        else if (change == 7) allocator = _new();
        else signature = signed(keys[seed % 2], allocator.hashRequest(request));
        vm.expectRevert(Allocator.InvalidSignature.selector);
        allocator.submitWithdrawRequest(request, signature);
    }

    /// A builder whose payloads do not carry their id would else be paid once for two requests.
    function testFuzz_noTwoRequestsHaveOnePayload(uint64 time, uint96 amount) public {
        bytes memory none = abi.encode("Mainnet", new uint256[](0));
        PayloadBuilder exchange = PayloadBuilder(ship("HyperliquidPayloadBuilder", none));
        allocator.setBuilder(1337, "exchange", exchange);
        SubmitWithdrawRequest memory request = _request(amount);
        (request.chainId, request.depository, request.currency) = (1337, "exchange", "");
        request.data = abi.encode(time);
        allocator.submitWithdrawRequest(request, _signed(request));
        request.nonce = "other";
        bytes memory signature = _signed(request);
        vm.expectRevert(Allocator.DuplicatePayload.selector);
        allocator.submitWithdrawRequest(request, signature);
    }

    function testFuzz_signaturesAreTheSignersAndStayed(bytes32 hash, bytes calldata signature, address stranger) public {
        vm.assume(signature.length > 0 && stranger != signer && stranger != address(this));
        SubmitWithdrawRequest memory request = _request(1);
        bytes32 id = allocator.submitWithdrawRequest(request, _signed(request));
        vm.prank(stranger);
        vm.expectRevert(Allocator.NotSigner.selector);
        allocator.storeSignature(id, hash, signature);
        vm.prank(stranger);
        vm.expectRevert(Owned.NotOwner.selector);
        allocator.setBuilder(1, "", builder);
        vm.startPrank(signer);
        vm.expectRevert(Allocator.UnknownPayload.selector);
        allocator.storeSignature(keccak256(abi.encode(id)), hash, signature);
        allocator.storeSignature(id, hash, signature);
        vm.expectRevert(Allocator.AlreadySigned.selector);
        allocator.storeSignature(id, hash, "other");
        same(allocator.signedPayloads(id, hash), signature, "signature");
    }

    function _request(uint256 amount) private view returns (SubmitWithdrawRequest memory request) {
        request.chainId = block.chainid;
        request.depository = Texts.hexOf(address(depository));
        request.currency = Texts.hexOf(address(token));
        request.amount = amount;
        request.spender = address(0x59e4);
        request.receiver = Texts.hexOf(address(0x4ec1));
        request.nonce = "nonce";
    }

    function _signed(SubmitWithdrawRequest memory request) private view returns (bytes memory) {
        bytes32 digest = allocator.hashRequest(request);
        return abi.encodePacked(signed(keys[0], digest), signed(keys[1], digest));
    }
}
