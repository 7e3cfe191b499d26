// Goal: every sentence of the oracle document is true of the running service, also at its edges. Method: one `describe`
// per heading of the document, in its order; oracles are processes, asked over HTTP, over real chains.
import { afterAll, beforeAll, describe } from 'vitest'
import { describeConfiguration } from './attestationOracle/configuration.ts'
import { describeEndpoints, describeResources, describeStates } from './attestationOracle/endpoints.ts'
import { describeQuorum } from './attestationOracle/quorum.ts'
import {
  describeAuthentication,
  describeErrors,
  describeEvents,
  describeLimits,
  describeVersioning,
} from './attestationOracle/rules.ts'
import { describeService } from './attestationOracle/service.ts'
import {
  askSilentPeers,
  beginRefusedStarts,
  type LateAnswer,
  type RefusedStarts,
} from './support/oracleChecks.ts'
import { type Story, tellStory } from './support/oracleStory.ts'
import { type OracleWorld, startOracleWorld } from './support/oracleWorld.ts'

/** As long as all of it takes on a busy machine. */
const startMs = 300_000
let world: OracleWorld | undefined
let told: Story | undefined
let waited: Promise<LateAnswer> | undefined
let starts: RefusedStarts | undefined
beforeAll(async () => {
  world = await startOracleWorld()
  // Both take their time, while everything else happens.
  starts = beginRefusedStarts(world)
  waited = askSilentPeers(world)
  waited.catch(() => {})
  told = await tellStory(world)
}, startMs)
afterAll(() => world?.stop())

function opened<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('the oracles did not start')
  return part
}
const at = () => opened(world)
const story = () => opened(told)
const late = () => opened(waited)
const refused = () => opened(starts)

describe('What the service does', () => {
  describeService(at, story)
  describe('Runtime configuration', () => describeConfiguration(at, story, late, refused))
  describe('Peer aggregation and quorum', () => describeQuorum(at, story))
})

describe('Resources and their fields', () => describeResources(at, story))

describe('States and transitions', () => describeStates(at, story))

describe('Endpoints', () => describeEndpoints(at, story))

describe('Authentication', () => describeAuthentication(at, story))

describe('Events', () => describeEvents(at))

describe('Errors', () => describeErrors(at, refused))

describe('Limits', () => describeLimits(at, refused))

describe('Versioning', () => describeVersioning(at))
