// Goal: whatever its family, a fill wallet pays each id once and never above its ceiling, wherever its process is killed,
// whatever its database forgets and one endpoint of three says; and what it pays is attested. Attack: a user who is paid
// twice, or whose payment is taken for made. Method: one contract over a fixture per family: desks over real PostgreSQL, a
// real node of an EVM chain, real contracts on Tron and the hub, and stand-ins of the others.
import type { VmType } from '@causeway/core/encodings'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, describe } from 'vitest'
import type { PayerBench } from '../../apps/solver/test/support/payerBench.ts'
import { openSolverDatabases } from '../../apps/solver/test/support/solverDatabases.ts'
import { describeEndpoints } from './describeEndpoints.ts'
import { describeEnds } from './describeEnds.ts'
import { describeKills } from './describeKills.ts'
import { describePayments } from './describePayments.ts'
import { describeSending } from './describeSending.ts'
import { type OpenCase, openCase, type PayerFixture, type WithoutForm } from './payerCase.ts'

/** A family's fixture, and how its chain starts on a network of EVM chains where it needs one. */
type PayerFamily = Omit<PayerFixture, 'bench'> & {
  start(ground: {
    readonly databases: ReturnType<typeof openSolverDatabases>
    readonly network: () => Promise<TestNetwork>
  }): Promise<PayerBench>
  readonly withoutForm?: WithoutForm
}

/** A fill wallet's promises, the same in every family. */
export function describePayer(family: VmType, { start, withoutForm = {}, ...fixture }: PayerFamily): void {
  const databases = openSolverDatabases()
  let network: Promise<TestNetwork> | undefined
  let bench: Promise<PayerBench> | undefined
  const startNetwork = () => {
    network ??= startTestNetwork()
    return network
  }
  const fixtureOf = async () => {
    bench ??= start({ databases, network: startNetwork })
    return { ...fixture, bench: await bench }
  }
  afterAll(async () => {
    await (await bench)?.stop()
    await (await network)?.stop()
  })
  const open: OpenCase = async (seconds) => openCase(await fixtureOf(), seconds)
  describe(family, () => {
    describeKills(fixtureOf)
    describeSending(open)
    describeEnds(open, withoutForm)
    describePayments(open, withoutForm)
    describeEndpoints(open, withoutForm)
  })
}
