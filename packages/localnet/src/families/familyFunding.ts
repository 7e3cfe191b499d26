import { createHash } from 'node:crypto'
import { type FamilyAccounts, familyAccounts } from '../keys/familyAccounts.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { FamilyFunding } from './familySettings.ts'
import { solanaAccounts, solanaFunding } from './solanaAccounts.ts'

const [tenTo6, tenTo8] = [10n ** 6n, 10n ** 8n]
/**
 * USDC on each exchange, with eight decimals on Hyperliquid and six on Lighter. The solver has a hundredth of
 * what it has on both EVM chains together, a user as much as on each of them.
 */
const [solverDollars, userDollars] = [40_000n, 100_000n]

/** First balances on the chains of the other families, which their stand-ins set when they open. */
export function familyFunding(keys: LocalKeys): FamilyFunding {
  const { bitcoin, hyperliquid, lighter } = familyAccounts(keys)
  return {
    solana: solanaFunding(solanaAccounts(keys)),
    bitcoin: bitcoinFunding(bitcoin).rawHex,
    hyperliquid: [
      { holder: hyperliquid.fillWallet, dollars: solverDollars },
      ...hyperliquid.users.map((holder) => ({ holder, dollars: userDollars })),
    ].map(({ holder: { address }, dollars }) => ({
      account: address,
      owner: address,
      amount: (dollars * tenTo8).toString(),
    })),
    lighter: [
      { holder: lighter.fillWallet, dollars: solverDollars },
      ...lighter.users.map((holder) => ({ holder, dollars: userDollars })),
    ].map(({ holder: { account, owner }, dollars }) => ({
      account,
      owner: owner.address,
      amount: (dollars * tenTo6).toString(),
    })),
  }
}

/** Ten coins for the solver, one for each user. */
const [solverSatoshi, userSatoshi] = [10n * tenTo8, tenTo8]

/**
 * A transaction whose input spends an unknown output: a node would refuse it, a constructed block takes it. Its first
 * output is the fill wallet's, where the line of its payments begins.
 * @source Bitcoin Core, "Raw transaction format"
 */
export function bitcoinFunding({ fillWallet, users }: FamilyAccounts['bitcoin']): {
  readonly rawHex: string
  readonly id: string
} {
  const outputs = [
    { script: fillWallet.script, satoshi: solverSatoshi },
    ...users.map(({ script }) => ({ script, satoshi: userSatoshi })),
  ]
  const unknownId = createHash('sha256').update('causeway local network: coins from nothing').digest()
  const bytes = Buffer.concat([
    // Version; one input: the unknown output 0, a script of one byte that is true, the final sequence.
    ...[littleEndian(1n, 4), littleEndian(1n, 1), unknownId, littleEndian(0n, 4)],
    ...[Buffer.of(1, 0x51), littleEndian(0xffff_ffffn, 4)],
    littleEndian(BigInt(outputs.length), 1),
    ...outputs.flatMap(({ script, satoshi }) => [
      ...[littleEndian(satoshi, 8), littleEndian(BigInt(script.length), 1), script],
    ]),
    // No lock time.
    littleEndian(0n, 4),
  ])
  // An id is written with the bytes of its hash in reverse order.
  const firstHash = createHash('sha256').update(bytes).digest()
  const id = createHash('sha256').update(firstHash).digest().reverse().toString('hex')
  return { rawHex: bytes.toString('hex'), id }
}

function littleEndian(value: bigint, byteLength: number): Buffer {
  const eightBytes = Buffer.alloc(8)
  eightBytes.writeBigUInt64LE(value)
  return eightBytes.subarray(0, byteLength)
}
