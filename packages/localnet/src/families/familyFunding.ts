import { createHash } from 'node:crypto'
import { type FamilyAccounts, familyAccounts } from '../keys/familyAccounts.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { FamilyFunding } from './familySettings.ts'
import { solanaAccounts, solanaFunding } from './solanaAccounts.ts'

const [unit6, unit8] = [10n ** 6n, 10n ** 8n]
/** On each chain the solver has a hundredth of its USDC and users as much as on the others, in dollars. */
const [solverDollars, userDollars] = [40_000n, 100_000n]

/** Balances on the chains of the other families before anything happens there. */
export function familyFunding(keys: LocalKeys): FamilyFunding {
  const { bitcoin, hyperliquid, lighter } = familyAccounts(keys)
  return {
    solana: solanaFunding(solanaAccounts(keys)),
    bitcoin: bitcoinFunding(bitcoin).rawHex,
    hyperliquid: [
      { holder: hyperliquid.fillWallet, dollars: solverDollars },
      ...hyperliquid.users.map((holder) => ({ holder, dollars: userDollars })),
    ].map(({ holder: { address }, dollars }) => ({
      ...{ account: address, owner: address, amount: (dollars * unit8).toString() },
    })),
    lighter: [
      { holder: lighter.fillWallet, dollars: solverDollars },
      ...lighter.users.map((holder) => ({ holder, dollars: userDollars })),
    ].map(({ holder: { account, owner }, dollars }) => ({
      ...{ account, owner: owner.address, amount: (dollars * unit6).toString() },
    })),
  }
}

/** Ten coins for the solver, one for each user. */
const [solverSatoshi, userSatoshi] = [10n * unit8, unit8]

/**
 * A transaction that spends nothing known: no node would take it, and a constructed block does. Its first output is the
 * fill wallet's, where the line of its payments begins.
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
  const spent = createHash('sha256').update('causeway local network: coins from nothing').digest()
  const bytes = Buffer.concat([
    // Version, one input: an output of nobody, a script that is true, final.
    ...[int(1n, 4), int(1n, 1), spent, int(0n, 4), Buffer.of(1, 0x51), int(0xffff_ffffn, 4)],
    int(BigInt(outputs.length), 1),
    ...outputs.flatMap(({ script, satoshi }) => [int(satoshi, 8), int(BigInt(script.length), 1), script]),
    int(0n, 4),
  ])
  const once = createHash('sha256').update(bytes).digest()
  const id = createHash('sha256').update(once).digest().reverse().toString('hex')
  return { rawHex: bytes.toString('hex'), id }
}

/** Little-endian. */
function int(value: bigint, bytes: number): Buffer {
  const all = Buffer.alloc(8)
  all.writeBigUInt64LE(value)
  return all.subarray(0, bytes)
}
