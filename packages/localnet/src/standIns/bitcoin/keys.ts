import { createHash } from 'node:crypto'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { scriptAddress } from '@causeway/families/rules'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1'
import { networks, payments, type Signer } from 'bitcoinjs-lib'

const network = networks.regtest

/** The key whose secret is the hash of a name. */
export const keyOf = (name: string): TestKey => keyOfSecret(createHash('sha256').update(name).digest())

/** A key with the scripts and addresses that it can spend from on regtest. */
export function keyOfSecret(secret: Uint8Array) {
  const publicKey = secp256k1.getPublicKey(secret, true)
  const signer: Signer = {
    publicKey,
    sign: (hash) => secp256k1.sign(hash, secret).toCompactRawBytes(),
  }
  const witness = requirePayment(payments.p2wpkh({ pubkey: publicKey, network }))
  const legacy = requirePayment(payments.p2pkh({ pubkey: publicKey, network }))
  const taprootScript = Uint8Array.of(0x51, 32, ...publicKey.subarray(1))
  const nested = requirePayment(
    payments.p2sh({ redeem: payments.p2wpkh({ pubkey: publicKey, network }), network }),
  )
  return {
    secret: new Uint8Array(secret),
    signer,
    publicKey,
    witness,
    legacy,
    nested,
    /** Taproot output whose output key is this public key, untweaked. */
    taproot: requirePayment({
      output: taprootScript,
      address: scriptAddress(taprootScript, bitcoinNetworkOf('regtest')),
    }),
    signTaproot: (hash: Uint8Array) => schnorr.sign(hash, secret),
  }
}

export type TestKey = ReturnType<typeof keyOfSecret>

function requirePayment({
  address,
  output,
}: {
  address?: string | undefined
  output?: Uint8Array | undefined
}) {
  if (address === undefined || output === undefined) throw new Error('a payment without an address')
  return { address, script: output }
}

export { network as regtest }
