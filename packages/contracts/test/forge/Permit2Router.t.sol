// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    PermitBatchTransferFrom,
    Permit2Router
} from "../../contracts/chain/Permit2Router.sol";
import {Call3Value, PermittedCalls, TokenPermissions} from "../../contracts/chain/PermittedCalls.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Burner, Intruder} from "./Adversaries.sol";
import {Base} from "./Base.sol";
import {Wrapped} from "./Tokens.sol";

interface IDomain {
    function DOMAIN_SEPARATOR() external view returns (bytes32);
}

contract Permit2RouterTest is Base {
    uint256 private constant OWNER_KEY = 0x0e4;
    string private constant CALL_TYPE =
        "Call3Value(address target,bool allowFailure,uint256 value,bytes callData)";
    string private constant WITNESS_STRUCT =
        "RelayerWitness(address relayer,address refundTo,address nftRecipient,bytes metadata,Call3Value[] call3Values)";

    /// Everything that is signed.
    struct Signed {
        address relayer;
        PermitBatchTransferFrom permit;
        Call3Value[] calls;
        address refundTo;
        address nftRecipient;
        bytes metadata;
    }

    Permit2Router private router;
    Wrapped private token;
    address private permit2;
    address private owner = vm.addr(OWNER_KEY);
    address private relayer = address(0x4e1a);
    address private merchant = address(0x3e4c);
    address private refundee = address(0x4ef0);

    function setUp() public {
        router = Permit2Router(ship("Permit2Router", ""));
        permit2 = address(router.PERMIT2());
        vm.etch(permit2, ship("Permit2", "").code);
        token = new Wrapped();
        vm.deal(address(this), 1e30);
        token.deposit{value: 1e30}();
        token.transfer(owner, 1e30);
        vm.prank(owner);
        token.approve(permit2, 1e30);
    }

    function testFuzz_callsSpendWhatWasSigned(uint96 amount, uint96 spent, uint96 coin, uint96 handed) public {
        spent = uint96(within(spent, 0, amount));
        coin = uint96(within(coin, 0, amount - spent));
        handed = uint96(within(handed, 0, coin));
        Signed memory one = _signedCalls(amount);
        one.calls = new Call3Value[](4);
        one.calls[0] = Call3Value(address(token), false, 0, abi.encodeCall(HostileToken.transfer, (merchant, spent)));
        one.calls[1] = Call3Value(address(token), false, 0, abi.encodeCall(Wrapped.withdraw, (coin)));
        one.calls[2] = Call3Value(merchant, false, handed, "");
        // What it leaves behind serves nobody: its address has no code any more.
        one.calls[3] =
            Call3Value(address(token), false, 0, abi.encodeCall(HostileToken.approve, (address(0xbad), 1e30)));
        _submit(one, _sign(one));
        same(token.balanceOf(merchant), spent, "tokens spent");
        same(merchant.balance, handed, "coin spent");
        same(token.balanceOf(refundee), amount - spent - coin, "tokens given back");
        same(refundee.balance, coin - handed, "coin given back");
        same(token.balanceOf(owner), 1e30 - amount, "tokens of the owner");
        same(token.balanceOf(address(router)) + address(router).balance, 0, "held by the router");
        bytes memory again = _sign(one);
        vm.expectRevert();
        _submit(one, again);
    }

    function testFuzz_onlyWhatWasSigned(uint96 amount, uint8 change, uint256 seed) public {
        amount = uint96(within(amount, 2, 1e28));
        Signed memory one = _signedCalls(amount);
        bytes memory signature = _sign(one);
        address other = address(uint160(within(seed, 0x10000, 0x20000)));
        change = change % 11;
        if (change == 0) one.relayer = other;
        else if (change == 1) one.refundTo = other;
        else if (change == 2) one.nftRecipient = other;
        else if (change == 3) one.metadata = abi.encode(seed);
        else if (change == 4) one.calls[0].target = other;
        else if (change == 5) one.calls[0].allowFailure = !one.calls[0].allowFailure;
        else if (change == 6) one.calls[0].callData = abi.encode(seed);
        else if (change == 7) one.permit.permitted[0].amount = within(seed, 1, amount - 1);
        else if (change == 8) one.permit.nonce += 1 + seed % 1e9;
        else if (change == 9) one.permit.deadline += 1 + seed % 1e9;
        else router = Permit2Router(ship("Permit2Router", ""));
        vm.expectRevert();
        _submit(one, signature);
        same(token.balanceOf(owner), 1e30, "tokens of the owner");
    }

    function testFuzz_failuresStopUnlessAllowed(uint96 amount, bool mayFail) public {
        Signed memory one = _signedCalls(amount);
        one.calls[0] = Call3Value(address(new Burner()), mayFail, 0, "");
        bytes memory signature = _sign(one);
        vm.prank(one.relayer);
        if (!mayFail) vm.expectPartialRevert(PermittedCalls.CallFailed.selector);
        router.permit2TransferAndMulticall{gas: 10_000_000}(
            owner, one.permit, one.calls, one.refundTo, one.nftRecipient, one.metadata, signature
        );
        same(token.balanceOf(refundee), mayFail ? amount : 0, "given back");
        same(token.balanceOf(owner), mayFail ? 1e30 - uint256(amount) : 1e30, "tokens of the owner");
    }

    function testFuzz_noEntryWhileItCalls(uint96 amount) public {
        Intruder intruder = new Intruder();
        Signed memory other = _signedCalls(amount);
        other.relayer = address(intruder);
        bytes memory theirs = _sign(other);
        intruder.add(
            address(router),
            abi.encodeCall(
                router.permit2TransferAndMulticall,
                (owner, other.permit, other.calls, other.refundTo, other.nftRecipient, other.metadata, theirs)
            )
        );
        Signed memory one = _signedCalls(amount);
        one.permit.nonce = 2;
        one.calls[0] = Call3Value(address(intruder), false, 0, "call");
        _submit(one, _sign(one));
        same(intruder.tries(), 1, "tries");
        same(intruder.entered(), 0, "entered");
        same(token.balanceOf(refundee), amount, "given back");
    }

    function _signedCalls(uint256 amount) private view returns (Signed memory one) {
        one.relayer = relayer;
        one.permit.permitted = new TokenPermissions[](1);
        one.permit.permitted[0] = TokenPermissions(address(token), amount);
        one.permit.nonce = 1;
        one.permit.deadline = block.timestamp + 1;
        one.calls = new Call3Value[](1);
        one.calls[0] = Call3Value(
            address(token), false, 0, abi.encodeCall(HostileToken.transfer, (merchant, amount / 2))
        );
        one.refundTo = refundee;
    }

    function _submit(Signed memory one, bytes memory signature) private {
        vm.prank(one.relayer);
        router.permit2TransferAndMulticall(
            owner, one.permit, one.calls, one.refundTo, one.nftRecipient, one.metadata, signature
        );
    }

    /// As a wallet signs it, from the types that the router names. Reference: EIP-712, Permit2
    function _sign(Signed memory one) private view returns (bytes memory) {
        bytes32[] memory calls = new bytes32[](one.calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            Call3Value memory call = one.calls[i];
            calls[i] = keccak256(
                abi.encode(
                    keccak256(bytes(CALL_TYPE)), call.target, call.allowFailure, call.value, keccak256(call.callData)
                )
            );
        }
        bytes32 witness = keccak256(
            abi.encode(
                keccak256(abi.encodePacked(WITNESS_STRUCT, CALL_TYPE)),
                one.relayer,
                one.refundTo,
                one.nftRecipient,
                keccak256(one.metadata),
                keccak256(abi.encodePacked(calls))
            )
        );
        return signed(OWNER_KEY, _permitDigest(one.permit, witness));
    }

    function _permitDigest(PermitBatchTransferFrom memory permit, bytes32 witness) private view returns (bytes32) {
        bytes32 typeHash = keccak256(
            abi.encodePacked(
                "PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,RelayerWitness witness)",
                CALL_TYPE,
                WITNESS_STRUCT,
                "TokenPermissions(address token,uint256 amount)"
            )
        );
        bytes32 permitted = keccak256(
            abi.encode(
                keccak256("TokenPermissions(address token,uint256 amount)"),
                permit.permitted[0].token,
                permit.permitted[0].amount
            )
        );
        bytes32 structHash = keccak256(
            abi.encode(
                typeHash, keccak256(abi.encodePacked(permitted)), router, permit.nonce, permit.deadline, witness
            )
        );
        return keccak256(abi.encodePacked(hex"1901", IDomain(permit2).DOMAIN_SEPARATOR(), structHash));
    }
}
