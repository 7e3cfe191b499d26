// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Calls} from "./Calls.sol";

interface IERC1271 {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// ECDSA over secp256k1 in its one accepted spelling (65 bytes, v 27 or 28, low s), and EIP-1271.
library Signatures {
    bytes4 internal constant ERC1271_ACCEPTED = 0x1626ba7e;
    uint256 private constant HALF_CURVE_ORDER =
        0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// The signer, or the zero address when the signature is malformed.
    function recover(bytes32 digest, uint8 v, bytes32 r, bytes32 s) internal pure returns (address) {
        if ((v != 27 && v != 28) || uint256(s) > HALF_CURVE_ORDER) return address(0);
        return ecrecover(digest, v, r, s);
    }

    function recover(bytes32 digest, bytes memory signature) internal pure returns (address) {
        if (signature.length != 65) return address(0);
        return recoverAt(digest, signature, 0);
    }

    /// Reads the 65 bytes that start at `offset`; the caller checks that they exist.
    function recoverAt(bytes32 digest, bytes memory signatures, uint256 offset)
        internal
        pure
        returns (address)
    {
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            let start := add(add(signatures, 0x20), offset)
            r := mload(start)
            s := mload(add(start, 0x20))
            v := byte(0, mload(add(start, 0x40)))
        }
        return recover(digest, v, r, s);
    }

    /// True when `signer` signed: as a key, or as a contract through EIP-1271.
    function isValid(address signer, bytes32 digest, bytes memory signature)
        internal
        view
        returns (bool)
    {
        if (signer == address(0)) return false;
        if (recover(digest, signature) == signer) return true;
        (bool ok, uint256 word) = Calls.ask(signer, abi.encodeCall(IERC1271.isValidSignature, (digest, signature)));
        return ok && bytes32(word) == bytes32(ERC1271_ACCEPTED);
    }
}
