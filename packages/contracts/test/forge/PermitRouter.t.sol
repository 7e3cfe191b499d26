// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Depository} from "../../contracts/chain/Depository.sol";
import {PermitRouter, SignedDeposit} from "../../contracts/chain/PermitRouter.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Intruder} from "./Adversaries.sol";
import {Base} from "./Base.sol";
import {SignedToken} from "./Tokens.sol";

contract PermitRouterTest is Base {
    uint256 private constant OWNER_KEY = 0x0e4;

    Depository private depository;
    PermitRouter private router;
    SignedToken private token;
    address private owner = vm.addr(OWNER_KEY);

    function setUp() public {
        depository = Depository(ship("Depository", abi.encode(address(this))));
        router = PermitRouter(ship("PermitRouter", abi.encode(depository)));
        token = new SignedToken();
        token.mint(owner, 1e30);
    }

    function testFuzz_anAuthorizationIsItsOrdersDeposit(uint96 amount, bytes32 id, address anybody) public {
        SignedDeposit memory one = _deposit(amount, id);
        bytes memory signature = _authorized(one);
        _expectDeposit(one);
        vm.prank(anybody);
        router.depositWithAuthorization(one, signature);
        _deposited(amount);
        vm.prank(anybody);
        vm.expectRevert(SignedToken.NotSigned.selector);
        router.depositWithAuthorization(one, signature);
    }

    function testFuzz_aPermitIsItsOrdersDeposit(uint96 amount, bytes32 id, address anybody, bool isEarly) public {
        SignedDeposit memory one = _deposit(amount, id);
        bytes memory signature = _permitted(one);
        if (isEarly) {
            // A stranger hands in the permit first, and then something that is none.
            (uint8 v, bytes32 r, bytes32 s) = _parts(signature);
            token.permit(owner, router.spenderOf(one), amount, one.deadline, v, r, s);
            signature = new bytes(uint160(anybody) % 100);
        }
        _expectDeposit(one);
        vm.prank(anybody);
        router.depositWithPermit(one, signature);
        _deposited(amount);
        same(token.balanceOf(router.spenderOf(one)), 0, "held by the spender");
        same(token.allowance(router.spenderOf(one), address(depository)), 0, "allowed by the spender");
        vm.expectRevert(abi.encodeWithSelector(PermitRouter.AlreadyDeposited.selector, id));
        router.depositWithPermit{gas: 100_000}(one, signature);
        _deposited(amount);
    }

    /// With what was signed for one order nobody makes another deposit of it, or the same one elsewhere.
    function testFuzz_nothingElseComesOfASignature(uint96 amount, uint8 change, bool isPermit, bytes32 other) public {
        amount = uint96(within(amount, 2, 1e28));
        SignedDeposit memory one = _deposit(amount, "id");
        bytes memory signature = isPermit ? _permitted(one) : _authorized(one);
        change = change % 6;
        if (change == 0) one.id = keccak256(abi.encode(other));
        else if (change == 1) one.amount = within(uint256(other), 1, amount - 1);
        else if (change == 2) one.owner = address(uint160(within(uint256(other), 0x10000, 0x20000)));
        else if (change == 3) one.deadline += 1 + uint256(other) % 1e9;
        else if (change == 4) vm.chainId(block.chainid + 1 + uint8(uint256(other)));
        else router = PermitRouter(ship("PermitRouter", abi.encode(ship("Depository", abi.encode(address(1))))));
        vm.expectRevert();
        if (isPermit) router.depositWithPermit(one, signature);
        else router.depositWithAuthorization(one, signature);
        same(token.balanceOf(owner), 1e30, "tokens of the owner");
    }

    function testFuzz_noEntryWhileItDeposits(uint96 amount, bool isPermit) public {
        SignedDeposit memory one = _deposit(amount, "one");
        SignedDeposit memory other = _deposit(amount, "other");
        Intruder intruder = new Intruder();
        intruder.add(
            address(router), abi.encodeCall(router.depositWithAuthorization, (other, _authorized(other)))
        );
        bytes memory permit = _permitted(other);
        (uint8 v, bytes32 r, bytes32 s) = _parts(permit);
        token.permit(owner, router.spenderOf(other), amount, other.deadline, v, r, s);
        intruder.add(address(router), abi.encodeCall(router.depositWithPermit, (other, permit)));
        bytes memory signature = isPermit ? _permitted(one) : _authorized(one);
        token.set(HostileToken.Habit.Callback, address(0));
        token.arm(address(intruder), "hook");
        if (isPermit) router.depositWithPermit(one, signature);
        else router.depositWithAuthorization(one, signature);
        check(intruder.tries() >= 2, "nothing was tried");
        same(intruder.entered(), 0, "entered");
        _deposited(amount);
    }

    function _deposit(uint96 amount, bytes32 id) private view returns (SignedDeposit memory) {
        return SignedDeposit(address(token), owner, amount, block.timestamp + 1, id);
    }

    function _expectDeposit(SignedDeposit memory one) private {
        vm.expectEmit(address(depository));
        emit Depository.RelayErc20Deposit(owner, address(token), one.amount, one.id);
    }

    function _deposited(uint256 amount) private view {
        same(token.balanceOf(address(depository)), amount, "deposited");
        same(token.balanceOf(owner), 1e30 - amount, "tokens of the owner");
        same(token.balanceOf(address(router)), 0, "held by the router");
        same(token.allowance(address(router), address(depository)), 0, "allowed by the router");
    }

    function _authorized(SignedDeposit memory one) private view returns (bytes memory) {
        return signed(
            OWNER_KEY, token.authorizationDigest(owner, address(router), one.amount, one.deadline, one.id)
        );
    }

    function _permitted(SignedDeposit memory one) private view returns (bytes memory) {
        return signed(OWNER_KEY, token.permitDigest(owner, router.spenderOf(one), one.amount, one.deadline));
    }

    function _parts(bytes memory signature) private pure returns (uint8 v, bytes32 r, bytes32 s) {
        assembly {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
    }
}
