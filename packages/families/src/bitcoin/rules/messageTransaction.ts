import { concatBytes, sha256, utf8Bytes } from '@causeway/core'
import type { Transaction } from 'bitcoinjs-lib'
import { bitcoinLibrary } from './library.ts'

/** Hash types of signatures that commit to the whole transaction; `default` exists for taproot only. */
export const sighash = { default: 0x00, all: 0x01 } as const

/** Outpoint that the first virtual transaction spends. @source BIP 322 */
const nullOutPoint = { hash: new Uint8Array(32), index: 0xffff_ffff }

/**
 * Sighash for `script` and `message` of a version 0 witness, with hash type "all".
 * @param keyHash hash of the public key that the script asks for
 * @source BIP 143, BIP 322
 */
export function witnessSighash(message: string, script: Uint8Array, keyHash: Uint8Array): Uint8Array {
  const { payments } = bitcoinLibrary()
  const { output: scriptCode } = payments.p2pkh({ hash: keyHash })
  if (scriptCode === undefined) throw new Error('a hash of a key has no script')
  return transactionToSign(message, script).hashForWitnessV0(0, scriptCode, 0n, sighash.all)
}

/** Sighash for the key of a taproot output. @source BIP 341, BIP 322 */
export function taprootSighash(message: string, script: Uint8Array, hashType: number): Uint8Array {
  return transactionToSign(message, script).hashForWitnessV1(0, [script], [0n], hashType)
}

/**
 * A message is signed as the second of two virtual transactions: it spends the first, which commits to the message.
 * @source BIP 322
 */
function transactionToSign(message: string, script: Uint8Array): Transaction {
  const library = bitcoinLibrary()
  const { OP_0, OP_RETURN } = library.script.OPS
  const messageHash = taggedHash('BIP0322-signed-message', utf8Bytes(message))
  const toSpend = new library.Transaction()
  toSpend.version = 0
  toSpend.addInput(nullOutPoint.hash, nullOutPoint.index, 0, library.script.compile([OP_0, messageHash]))
  toSpend.addOutput(script, 0n)
  const toSign = new library.Transaction()
  toSign.version = 0
  toSign.addInput(toSpend.getHash(), 0, 0)
  toSign.addOutput(library.script.compile([OP_RETURN]), 0n)
  return toSign
}

/** The library's own function is not used: it knows only the tags of Bitcoin's own rules. @source BIP 340 */
function taggedHash(tag: string, bytes: Uint8Array): Uint8Array {
  const tagHash = sha256(utf8Bytes(tag))
  return sha256(concatBytes([tagHash, tagHash, bytes]))
}
