// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {IERC1271} from "../../contracts/shared/Signatures.sol";

/// A token with EIP-2612 and EIP-3009, by digests of its own: what matters here is what is signed.
contract SignedToken is HostileToken {
    mapping(address owner => uint256) public nonces;
    mapping(address owner => mapping(bytes32 nonce => bool)) public isUsed;

    error NotSigned();
    error NotPayee();

    function permitDigest(address owner, address spender, uint256 value, uint256 deadline)
        public
        view
        returns (bytes32)
    {
        return keccak256(abi.encode("permit", block.chainid, this, owner, spender, value, nonces[owner], deadline));
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        if (block.timestamp > deadline) revert NotSigned();
        if (ecrecover(permitDigest(owner, spender, value, deadline), v, r, s) != owner) revert NotSigned();
        ++nonces[owner];
        allowance[owner][spender] = value;
    }

    function authorizationDigest(address from, address to, uint256 value, uint256 validBefore, bytes32 nonce)
        public
        view
        returns (bytes32)
    {
        return keccak256(abi.encode("receive", block.chainid, this, from, to, value, validBefore, nonce));
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        if (msg.sender != to) revert NotPayee();
        if (block.timestamp >= validBefore || isUsed[from][nonce]) revert NotSigned();
        if (ecrecover(authorizationDigest(from, to, value, validBefore, nonce), v, r, s) != from) revert NotSigned();
        isUsed[from][nonce] = true;
        balanceOf[from] -= value;
        balanceOf[to] += value;
    }
}

contract Wrapped is HostileToken {
    function deposit() external payable {
        balanceOf[msg.sender] += msg.value;
    }

    function withdraw(uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, "no coin taken");
    }
}

/// Works as a token, and says so at length.
contract LongWinded {
    mapping(address holder => uint256) private held;
    mapping(address holder => mapping(address spender => uint256)) private allowances;
    uint256 public size = 32;

    function tell(uint256 size_) external {
        size = size_;
    }

    function mint(address to, uint256 amount) external {
        held[to] += amount;
    }

    function balanceOf(address holder) external view returns (uint256) {
        _answer(held[holder]);
    }

    function allowance(address holder, address spender) external view returns (uint256) {
        _answer(allowances[holder][spender]);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowances[msg.sender][spender] = amount;
        _answer(1);
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowances[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    /// Any other function, such as `permit`.
    fallback() external {
        uint256 length = size;
        assembly {
            revert(0, length)
        }
    }

    function _move(address from, address to, uint256 amount) private {
        held[from] -= amount;
        held[to] += amount;
        _answer(1);
    }

    function _answer(uint256 word) private view {
        uint256 length = size;
        assembly {
            mstore(0, word)
            return(0, length)
        }
    }
}

/// Gives `rate` hundredths of what it takes, in the other token, to its caller. It takes a part alone where told to.
contract Swapper {
    uint256 public rate = 100;
    uint256 public takenPercent = 100;

    function tell(uint256 rate_, uint256 takenPercent_) external {
        (rate, takenPercent) = (rate_, takenPercent_);
    }

    function swap(HostileToken tokenIn, uint256 amount, HostileToken tokenOut) external {
        uint256 taken = amount * takenPercent / 100;
        tokenIn.transferFrom(msg.sender, address(this), taken);
        tokenOut.transfer(msg.sender, taken * rate / 100);
    }
}

/// An account with code that signs what it was told to.
contract SigningWallet is IERC1271 {
    mapping(bytes32 digest => bool) public isSigned;

    function sign(bytes32 digest) external {
        isSigned[digest] = true;
    }

    function isValidSignature(bytes32 digest, bytes calldata) external view returns (bytes4) {
        return isSigned[digest] ? bytes4(0x1626ba7e) : bytes4(0);
    }

    receive() external payable {}
}
