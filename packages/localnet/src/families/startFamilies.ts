import { randomUUID } from 'node:crypto'
import { openBitcoin } from './bitcoinStandIn.ts'
import { type FamilyKey, familyDepositories, familyPlans, solanaAddressProgram } from './familyPlans.ts'
import type { FamilyDeposit, FamilyFacts, FamilyNetwork, FamilyPorts } from './familySettings.ts'
import { openHyperliquid } from './hyperliquidStandIn.ts'
import { openLighter } from './lighterStandIn.ts'
import { openSolana, type SolanaStandIn } from './solanaStandIn.ts'
import type { FamilyStandIn } from './standIn.ts'
import { openTron } from './tronStandIn.ts'

/** The stand-ins of one network. */
export type Families = {
  readonly facts: FamilyFacts
  /** Another deposit: by somebody new, on Tron by the same account. */
  deposit(key: FamilyKey, amount: bigint): Promise<FamilyDeposit>
  /** It answers nobody any more; the others go on. */
  silence(key: FamilyKey): Promise<void>
}

type OpenFamilies = Readonly<Record<FamilyKey, FamilyStandIn>> & { readonly solana: SolanaStandIn }

/** Who makes the deposit that every start has. */
const firstDepositor = 'first depositor'

/**
 * Opens the stand-ins, each with one final deposit; Tron when its node is known.
 * @throws Error when a port is taken or the node of Base does not do what it is asked for
 */
export async function startFamilies(ports: FamilyPorts, network: Promise<FamilyNetwork>): Promise<Families> {
  const open = await openFamilies(ports, network)
  // One after the other: deposits on Tron are numbered transactions of one account.
  let last: Promise<unknown> = Promise.resolve()
  const deposit = async (key: FamilyKey, amount: bigint, depositor: string): Promise<FamilyDeposit> => {
    const own = last.then(() => open[key].deposit(amount, depositor))
    last = own.catch(() => undefined)
    return { transactionId: (await own).transactionId, amount: amount.toString() }
  }
  const { evmDepository, solanaFunding } = await network
  const depositories = familyDepositories(evmDepository)
  const factsOf = async (key: FamilyKey) => {
    const { url, firstTransactionId: kept } = open[key]
    const amount = familyPlans[key].firstAmount
    const firstDeposit =
      kept === undefined
        ? await deposit(key, amount, firstDepositor)
        : { transactionId: kept, amount: amount.toString() }
    return { url, depository: depositories[key], firstDeposit }
  }
  const [solana, bitcoin, tron, hyperliquid, lighter] = await Promise.all([
    factsOf('solana'),
    factsOf('bitcoin'),
    factsOf('tron'),
    factsOf('hyperliquid'),
    factsOf('lighter'),
  ])
  // After its first deposit, whose id then depends on nothing that is given here.
  if (solanaFunding !== undefined) open.solana.open(solanaFunding)
  return {
    facts: { solana, bitcoin, tron, hyperliquid, lighter },
    deposit: (key, amount) => deposit(key, amount, randomUUID()),
    silence: (key) => open[key].stop(),
  }
}

async function openFamilies(ports: FamilyPorts, network: Promise<FamilyNetwork>): Promise<OpenFamilies> {
  // The contract's address is Tron's alone.
  const depositories = familyDepositories(`0x${'00'.repeat(20)}`)
  const [solana, bitcoin, hyperliquid, lighter] = await Promise.all([
    openSolana(ports.solana, { depository: depositories.solana, addressProgram: solanaAddressProgram }),
    openBitcoin(ports.bitcoin),
    openHyperliquid(ports.hyperliquid, depositories.hyperliquid),
    openLighter(ports.lighter, depositories.lighter),
  ])
  const { evmDepository, tronFile, solanaFunding: _solana, ...behind } = await network
  const tron = await openTron({ ...behind, port: ports.tron, depository: evmDepository, file: tronFile })
  return { solana, bitcoin, tron, hyperliquid, lighter }
}
