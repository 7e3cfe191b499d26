// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// EIP-712 digests for a contract that verifies them itself.
abstract contract TypedData {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    /// Computed on every call, so that a copied state never accepts another chain's signatures.
    function _domainSeparator(string memory name, string memory version) internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                DOMAIN_TYPEHASH, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this)
            )
        );
    }

    function _digest(bytes32 domainSeparator, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domainSeparator, structHash));
    }
}
