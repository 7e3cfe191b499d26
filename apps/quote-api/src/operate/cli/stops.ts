import { type ChainStop, everyChain } from '../../requests/stops/stopStore.ts'
import type { NamedChain } from '../admin/stopAdministration.ts'
import type { Command } from './command.ts'
import { readReason, reasonFlag } from './readValue.ts'
import { tableOf } from './tableOf.ts'

const stopByHand = 'stop it yourself: npm run causeway -- allocator stop <reason>'
const allocatorLines = {
  reached: 'allocator: it has read this stop and signs nothing for it',
  silent: `allocator: NOT REACHED, it has not read the stops lately; ${stopByHand}`,
  none: `allocator: NOT REACHED, none reads the stops here (STOPS_URL); ${stopByHand}`,
} as const

export const stopCommands: readonly Command[] = [
  {
    words: 'stop',
    changes: true,
    about:
      'Stop a chain, or all: no quotes, no work for solvers, no withdrawals; says which parts it reached',
    operands: ['chain|all'],
    flags: { reason: reasonFlag },
    async run({ administration, actor }, args) {
      const reason = readReason(args)
      const stopped = await administration.stops.stop(args.operand('chain|all'), { actor, reason })
      return {
        data: { ...stopped, stopped: true },
        lines: [
          `${describe(stopped)} stopped until: go ${stopped.name}`,
          'quote-api: every replica reads it within a second; nothing is quoted, relayed or claimed there',
          'solvers: no fill, refund, claim, sweep or permit is offered any more, and a report of one is refused, so that nothing new is sent; what was reported before is followed to its end',
          allocatorLines[stopped.allocator],
        ],
      }
    },
  },
  {
    words: 'go',
    changes: true,
    about: 'End the stop of a chain, or every stop',
    operands: ['chain|all'],
    flags: { reason: reasonFlag },
    async run({ administration, actor }, args) {
      const reason = readReason(args)
      const release = await administration.stops.go(args.operand('chain|all'), { actor, reason })
      return {
        data: release,
        lines: [
          release.ended === 0
            ? `${describe(release)} not stopped by an operator.`
            : `${describe(release)} let go on.`,
          ...release.left.map(describeLeft),
        ],
      }
    },
  },
  {
    words: 'stops',
    about: 'List what is stopped, by whom, since when and why, and what solvers would refuse',
    async run({ administration, differences }) {
      const [stops, differing] = [await administration.stops.list(), await differences()]
      const stoppingDifferences = (differing ?? []).filter(({ isStopping }) => isStopping)
      const rows = [
        ...stops.map(({ chainId, toldBy, actor, since, reason }) => ({
          chain: nameOf(chainId),
          by: toldBy,
          actor,
          since: since.toISOString(),
          reason,
        })),
        // This command compares terms itself, so it does not know since when the running service differs.
        ...stoppingDifferences.map(({ chainId, text }) => ({
          chain: nameOf(chainId),
          by: 'terms',
          actor: 'quote-api',
          since: '-',
          reason: text,
        })),
      ]
      return {
        data: { stops, differences: differing },
        lines: [
          ...(rows.length === 0 ? ['Nothing is stopped.'] : tableOf(rows)),
          ...(differing === undefined
            ? ['What solvers would refuse is not known with these variables: npm run causeway -- doctor']
            : []),
        ],
      }
    },
  },
]

/** A stop that holds the chain although the operator's stop has ended. */
function describeLeft({ chainId, toldBy }: ChainStop): string {
  return {
    solver: `The solver still pays nothing on chain ${chainId}: npm run causeway -- solver status`,
    head: `Chain ${chainId} still makes no blocks: npm run causeway -- doctor`,
    oracles: `Oracles still halt chain ${chainId}: npm run causeway -- doctor`,
    network: `The network of chain ${chainId} still is not as the files say: npm run causeway -- doctor`,
    terms: `The solver still refuses orders to chain ${chainId}: npm run causeway -- doctor`,
    watcher: `Deposits on chain ${chainId} still cannot be read: npm run causeway -- doctor`,
    // The operator's stop of this chain has ended, so this one is of all chains.
    operator: 'All chains are still stopped: go all',
  }[toldBy]
}

const nameOf = (chainId: number): string => (chainId === everyChain ? 'all' : String(chainId))

const describe = ({ chainId, name }: NamedChain): string =>
  chainId === everyChain ? 'All chains are' : `Chain ${name} (${chainId}) is`
