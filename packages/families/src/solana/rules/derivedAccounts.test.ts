// Goal: accounts that programs derive are derived here alike, and no signature is anybody's without his key. Method:
// web3.js derives each account once more from the seeds that the programs publish.

import type { Hex } from '@causeway/core'
import { encodeBase58, sha256 } from '@causeway/core'
import { PublicKey } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { solanaDepositAddress } from './depositAddress.ts'
import { isSolanaOwnerSignature } from './ownerSignature.ts'
import { deriveProgramAddresses, isSolanaKey } from './programAddresses.ts'
import { reservedAccount } from './programs.ts'

const depository = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const program = '7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ'
const sweeper = 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9'
const depositor = 'CbKGgVKLJFb8bBrf58DnAkdryX6ubewVytn7X957YwNr'
const word = (byte: string): Hex => `0x${byte.repeat(32)}`
const bytesOf = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')
const derived = (seeds: readonly Uint8Array[], of: string) =>
  PublicKey.findProgramAddressSync([...seeds], new PublicKey(of))[0].toBase58()

test('a withdrawal is used once its request has an account', () => {
  const { usedRequest } = deriveProgramAddresses(depository)
  for (const id of [word('01'), word('02')])
    expect(usedRequest(id)).toBe(derived([Buffer.from('used_request'), bytesOf(id)], depository))
})

describe('a deposit address', () => {
  const terms = { orderSigner: `0x${'0a'.repeat(20)}`, sweeper, depositor, nonce: word('0b') } as const
  const of = (change: object = {}, by = program) =>
    solanaDepositAddress(
      { ...terms, ...change },
      {
        program: by,
        depository: { program: depository, addresses: deriveProgramAddresses(depository) },
      },
    ).address

  test('is derived from its terms and the depository', () => {
    const hash = sha256(
      Buffer.concat([
        new PublicKey(depository).toBytes(),
        bytesOf(terms.orderSigner),
        new PublicKey(sweeper).toBytes(),
        new PublicKey(depositor).toBytes(),
        bytesOf(terms.nonce),
      ]),
    )
    expect(of()).toBe(derived([Buffer.from('deposit'), hash], program))
    expect(isSolanaKey(of())).toBe(false)
  })

  test('is another one for other terms, and for another program', () => {
    const addresses = [
      of(),
      of({ orderSigner: `0x${'0c'.repeat(20)}` }),
      of({ sweeper: depositor }),
      of({ depositor: sweeper }),
      of({ nonce: word('0c') }),
      of({}, depository),
    ]
    expect(new Set(addresses).size).toBe(addresses.length)
  })
})

test('P-110: a key of small order, which a made-up signature fits for every message, signs nothing', () => {
  // The neutral point as key and as the first half; zero as the second.
  const neutral = Uint8Array.of(1, ...new Uint8Array(31))
  const signature = Uint8Array.from([...neutral, ...new Uint8Array(32)])
  for (const message of ['', 'any'])
    expect(isSolanaOwnerSignature({ message, signature, owner: encodeBase58(neutral) })).toBe(false)
})

test.each([
  ['a sysvar', 'SysvarRent111111111111111111111111111111111', 'a sysvar of the cluster'],
  ['a program', 'Vote111111111111111111111111111111111111111', 'a program of the cluster'],
  ['what has a sysvar within it', '1SysvarRent11111111111111111111111111111111', undefined],
  ['what goes on behind a sysvar', 'SysvarRent111111111111111111111111111111112', undefined],
])('%s is told from other accounts by its whole name', (_what, account, description) => {
  expect(reservedAccount(account)).toBe(description)
})
