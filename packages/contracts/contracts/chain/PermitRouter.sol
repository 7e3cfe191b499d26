// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Authorized} from "../shared/IERC20.sol";
import {ReentrancyGuard} from "../shared/ReentrancyGuard.sol";
import {Transfers} from "../shared/Transfers.sol";
import {Depository} from "./Depository.sol";
import {IPermitOrigin, PermittedDeposit} from "./PermittedDeposit.sol";

/// A deposit of an order whose token's owner signed and somebody else submits.
struct SignedDeposit {
    address token;
    address owner;
    uint256 amount;
    /// Unix seconds: `validBefore` of an authorization, `deadline` of a permit.
    uint256 deadline;
    /// Order id.
    bytes32 id;
}

/// Every signature is bound to one order: whoever submits it, the only thing that can come of it is that
/// order's deposit. Nothing is held between two transactions, and nobody has a privilege.
contract PermitRouter is IPermitOrigin, ReentrancyGuard {
    /// Part of every spender.
    bytes32 public constant DEPOSIT_CODE_HASH = keccak256(type(PermittedDeposit).creationCode);

    Depository public immutable depository;

    address private transient token;
    address private transient owner;
    uint256 private transient amount;
    bytes32 private transient id;

    error AlreadyDeposited(bytes32 id);

    constructor(Depository depository_) {
        depository = depository_;
    }

    /// EIP-3009: the payee is this contract, `validAfter` is 0 and the nonce is the order id. A signature of
    /// 65 bytes goes through the entry point that every such token has, any other one through that of
    /// contract wallets.
    function depositWithAuthorization(SignedDeposit calldata signed, bytes calldata signature)
        external
        nonReentrant
    {
        IERC20Authorized authorized = IERC20Authorized(signed.token);
        if (signature.length == 65) {
            (uint8 v, bytes32 r, bytes32 s) = _split(signature);
            authorized.receiveWithAuthorization(
                signed.owner, address(this), signed.amount, 0, signed.deadline, signed.id, v, r, s
            );
        } else {
            authorized.receiveWithAuthorization(
                signed.owner, address(this), signed.amount, 0, signed.deadline, signed.id, signature
            );
        }
        Transfers.allow(signed.token, address(depository), signed.amount);
        depository.depositErc20(signed.owner, signed.token, signed.amount, signed.id);
    }

    /// EIP-2612: the spender is the address that this deposit alone is made from, and it can be made there
    /// once. The permit may have been submitted before: what counts is the allowance. So a signature that is not
    /// of 65 bytes is left out, and a permit that fails is no error.
    function depositWithPermit(SignedDeposit calldata signed, bytes calldata signature) external nonReentrant {
        // Creation at a taken address would burn all gas of whoever comes second.
        if (spenderOf(signed).code.length > 0) revert AlreadyDeposited(signed.id);
        if (signature.length == 65) {
            (uint8 v, bytes32 r, bytes32 s) = _split(signature);
            try IERC20Authorized(signed.token)
                .permit(signed.owner, spenderOf(signed), signed.amount, signed.deadline, v, r, s) {}
                catch {}
        }
        (token, owner, amount, id) = (signed.token, signed.owner, signed.amount, signed.id);
        new PermittedDeposit{salt: _salt(signed)}();
    }

    /// The deposit that is being made now, for `PermittedDeposit`.
    function current() external view returns (address, address, address, uint256, bytes32) {
        return (address(depository), token, owner, amount, id);
    }

    /// Address that a permit must allow to spend, so that it serves this deposit and nothing else.
    function spenderOf(SignedDeposit calldata signed) public view returns (address) {
        bytes memory parts = abi.encodePacked(bytes1(0xff), address(this), _salt(signed), DEPOSIT_CODE_HASH);
        return address(uint160(uint256(keccak256(parts))));
    }

    function _salt(SignedDeposit calldata signed) private pure returns (bytes32) {
        return keccak256(abi.encode(signed));
    }

    function _split(bytes calldata signature) private pure returns (uint8 v, bytes32 r, bytes32 s) {
        return (uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
    }
}
