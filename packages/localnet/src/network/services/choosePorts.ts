import { nextFreePorts } from '../../nodes/ports.ts'
import type { FirstPorts, ServicePlan, ServicePorts } from './servicePlan.ts'

/** The ports of all services before any of them starts, each the next free one from its first choice on. */
export async function choosePorts(
  plans: readonly ServicePlan[],
  firstPorts: FirstPorts,
): Promise<ReadonlyMap<string, ServicePorts>> {
  const wanted = plans.flatMap((plan) =>
    Object.entries(plan.ports(firstPorts)).map(([use, first]) => ({ service: plan.name, use, first })),
  )
  const chosen = await nextFreePorts(wanted.map(({ first }) => first))
  return new Map(
    plans.map(({ name }) => [
      name,
      Object.fromEntries(
        wanted.flatMap(({ service, use }, index) => (service === name ? [[use, chosen[index] ?? 0]] : [])),
      ),
    ]),
  )
}
