// Which end-to-end files `npm test` leaves out. A suite has one purpose, a command and a CI job of its own.

/** Globs of every end-to-end file, from the repository's root. */
export const endToEndFiles = ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'test/**/*.test.ts']

/** Files by the suite that they run in. A file that stands in none runs in `npm test`. */
export const suiteFiles = {
  /** `npm run test:alerts`: what Prometheus makes of our metrics and rules; it must be installed. */
  alerts: [
    'test/alerts/faults.test.ts',
    'test/alerts/lies.test.ts',
    'test/alerts/money.test.ts',
    'test/alerts/operators.test.ts',
    'test/alerts/oracles.test.ts',
    'test/alerts/overload.test.ts',
    'test/alerts/rules.test.ts',
    'test/alerts/solver.test.ts',
  ],
  /** `npm run test:clients`: what others publish works here unmodified. */
  clients: [
    'test/console.test.ts',
    'test/olderClients.test.ts',
    'test/publicClient.test.ts',
    'test/publicClientBitcoin.test.ts',
    'test/publicClientFailures.test.ts',
    'test/publicClientHyperliquid.test.ts',
    'test/publicClientSocket.test.ts',
    'test/publicClientSolana.test.ts',
    'test/publicClientTron.test.ts',
    'test/referencePage.test.ts',
    'test/swapWidget.test.ts',
  ],
  /** `npm run test:families`: the shipped solver beside the shipped service on every family. */
  families: [
    'apps/solver/test/bitcoinProcess.test.ts',
    'apps/solver/test/hyperliquidProcess.test.ts',
    'apps/solver/test/lighterProcess.test.ts',
    'apps/solver/test/solanaProcess.test.ts',
    'apps/solver/test/tronProcess.test.ts',
    'test/familyPairingsSolver.test.ts',
  ],
  /** `npm run test:localnet`: what a newcomer types works: the start, its restarts, the demo and the guides. */
  localnet: [
    'apps/quote-api/test/sponsorGuide.test.ts',
    'packages/database/test/embeddedPostgres.test.ts',
    'packages/localnet/test/networkKeeper.test.ts',
    'packages/localnet/test/networkLeftDatabase.test.ts',
    'packages/localnet/test/networkRestart.test.ts',
    'packages/localnet/test/networkRun.test.ts',
    'packages/localnet/test/networkSession.test.ts',
    'packages/localnet/test/networkSnapshot.test.ts',
    'packages/localnet/test/networkStart.test.ts',
    'test/demo.test.ts',
    'test/familiesLocally.test.ts',
    'test/solanaLocally.test.ts',
    'test/solanaQuotedEqualsReceived.test.ts',
    'test/ways.test.ts',
  ],
  /** `npm run test:production`: what only other environments than `local` ask for. */
  production: [
    'apps/quote-api/test/productionMarket.test.ts',
    'apps/quote-api/test/productionStart.test.ts',
    'packages/ledger/test/pointInTime.test.ts',
    'test/production/rehearsal.test.ts',
  ],
  /**
   * `npm run test:faults`: kills at random moments, whose rule a shorter file of `npm test` proves as well. The
   * long sizes of all other files run there too.
   */
  faults: [
    'apps/quote-api/test/appFeeClaimKills.test.ts',
    'apps/quote-api/test/orderStore.test.ts',
    'apps/quote-api/test/settlementProcesses.test.ts',
    'apps/quote-api/test/sponsoredDurability.test.ts',
    'apps/quote-api/test/topUpTrees.test.ts',
    'apps/solver/test/solverPermits.test.ts',
    'apps/solver/test/solverSweeps.test.ts',
    'test/livesUnderFaults.test.ts',
    'test/soak/soak.test.ts',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Suite = keyof typeof suiteFiles

export const suites = [
  'alerts',
  'clients',
  'families',
  'localnet',
  'production',
  'faults',
] as const satisfies readonly Suite[]

/** Set while the long sizes are asked for; a file that reads it has one. */
export const longSizesVariable = 'CAUSEWAY_FAULTS'

/** What vitest runs for a suite: its projects, and the files of other projects that have long sizes. */
export function suiteArguments(suite: Suite, filesWithLongSizes: () => readonly string[]): readonly string[] {
  const only = (...projects: readonly string[]) => projects.flatMap((project) => ['--project', project])
  if (suite !== 'faults') return only(suite)
  return [...only('unit', 'e2e', 'faults'), ...new Set([...suiteFiles.faults, ...filesWithLongSizes()])]
}

/** One file after the other. `--maxWorkers=1` would not do: the number that a project names counts before it. */
export const oneAtATime = '--no-file-parallelism'

const packageFolder = /^(?:packages|apps)\/[^/]+\/?$/
const isPath = (word: string): boolean => word.includes('/') || word.endsWith('.ts')

/**
 * What vitest runs for the words after `npm test --`. The folder of a package stands for its unit tests, which answer
 * in seconds; `<package>/test` and names of files run whatever suite they are of.
 */
export function filteredArguments(words: readonly string[]): readonly string[] {
  const paths = words.filter(isPath)
  const isPackages = paths.length > 0 && paths.every((path) => packageFolder.test(path))
  // The slash keeps `packages/core` from matching what begins alike.
  const ended = words.map((word) => (packageFolder.test(word) && !word.endsWith('/') ? `${word}/` : word))
  return isPackages ? ['--project', 'unit', ...ended] : words
}
