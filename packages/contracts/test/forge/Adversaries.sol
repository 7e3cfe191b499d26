// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Answers every call with what it was told to: so many bytes that begin with a word, as a success or as a failure.
/// A recipient, a token, a call's target or a signer, as its caller takes it.
contract Answerer {
    bool public fails;
    uint256 public size;
    uint256 public word;

    function tell(bool fails_, uint256 size_, uint256 word_) external {
        (fails, size, word) = (fails_, size_, word_);
    }

    receive() external payable {
        _answer();
    }

    fallback() external payable {
        _answer();
    }

    function _answer() private view {
        (bool isFailure, uint256 length, uint256 first) = (fails, size, word);
        assembly {
            mstore(0, first)
            mstore(0x20, 0)
            mstore(0x40, 0)
            if isFailure { revert(0, length) }
            return(0, length)
        }
    }
}

/// Takes every call and says nothing.
contract Accepting {
    fallback() external payable {}
}

/// Burns all gas that it is given.
contract Burner {
    fallback() external payable {
        assembly {
            invalid()
        }
    }
}

/// Leaves its coin to an account that cannot refuse it.
contract Forcer {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}

/// Enters every function that it was told of whenever it is called or paid, and takes no refusal for one: as a
/// recipient, a call's target or the hook of a token.
contract Intruder {
    struct Entry {
        address target;
        bytes data;
    }

    Entry[] private entries;
    uint256 public tries;
    /// Entries that were let in.
    uint256 public entered;

    function add(address target, bytes calldata data) external {
        entries.push(Entry(target, data));
    }

    receive() external payable {
        _enter();
    }

    fallback() external payable {
        _enter();
        assembly {
            mstore(0, 1)
            return(0, 0x20)
        }
    }

    function _enter() private {
        for (uint256 i = 0; i < entries.length; ++i) {
            Entry storage entry = entries[i];
            ++tries;
            (bool ok,) = entry.target.call(entry.data);
            if (ok) ++entered;
        }
    }
}
