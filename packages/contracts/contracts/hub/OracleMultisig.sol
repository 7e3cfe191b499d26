// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initialized} from "../shared/Initialized.sol";
import {IERC1271, Signatures} from "../shared/Signatures.sol";

/// EIP-1271 account of several oracle keys. A signature is the concatenation of at least `threshold` signatures
/// of 65 bytes, ascending by signer. Only the first `threshold` are read: one of an outsider among them, or one
/// that does not ascend, makes the whole invalid, whatever follows.
contract OracleMultisig is Initialized, IERC1271 {
    uint256 private constant SIGNATURE_BYTES = 65;

    mapping(address account => bool) public isSigner;
    address[] private signerList;
    uint256 public threshold;

    event SignersSet(address[] signers, uint256 threshold);

    error InvalidThreshold();
    error InvalidSigner(address signer);

    constructor(address initializer) Initialized(initializer) {}

    function initialize(address owner_, address[] calldata signers_, uint256 threshold_) external {
        _initialize(owner_);
        _setSigners(signers_, threshold_);
    }

    /// Replaces the whole set.
    function setSigners(address[] calldata signers_, uint256 threshold_) external onlyOwner {
        _setSigners(signers_, threshold_);
    }

    function signers() external view returns (address[] memory) {
        return signerList;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        return _isValid(digest, signature) ? Signatures.ERC1271_ACCEPTED : bytes4(0xffffffff);
    }

    function _isValid(bytes32 digest, bytes memory signatures) private view returns (bool) {
        // Before `initialize` the threshold is 0, and every text would meet it.
        if (threshold == 0 || signatures.length % SIGNATURE_BYTES != 0) return false;
        if (signatures.length < threshold * SIGNATURE_BYTES) return false;
        address previous = address(0);
        for (uint256 i = 0; i < threshold; ++i) {
            address signer = Signatures.recoverAt(digest, signatures, i * SIGNATURE_BYTES);
            if (signer <= previous || !isSigner[signer]) return false;
            previous = signer;
        }
        return true;
    }

    function _setSigners(address[] calldata signers_, uint256 threshold_) private {
        if (threshold_ == 0 || threshold_ > signers_.length) revert InvalidThreshold();
        for (uint256 i = 0; i < signerList.length; ++i) isSigner[signerList[i]] = false;
        for (uint256 i = 0; i < signers_.length; ++i) {
            if (signers_[i] == address(0) || isSigner[signers_[i]]) revert InvalidSigner(signers_[i]);
            isSigner[signers_[i]] = true;
        }
        signerList = signers_;
        threshold = threshold_;
        emit SignersSet(signers_, threshold_);
    }
}
