import type { FamilyUrls } from '../../families/familyVariables.ts'
import type { LocalNetwork } from '../startLocalNetwork.ts'
import { allocatorPlan } from './allocator.ts'
import { oraclePlans } from './oracle.ts'
import { quoteApiPlan } from './quoteApi.ts'
import { solverPlan } from './solver.ts'

/** Means by which a service's plan makes the service's environment. */
export type ServiceContext = {
  readonly network: LocalNetwork
  /** Writes a secret for its owner's eyes only. @returns its absolute path */
  writeSecret(name: string, secret: string): Promise<string>
  /** Ports of every service of the session, by its name: services may have to know each other. */
  readonly ports: ReadonlyMap<string, ServicePorts>
  /** URLs of the chains of other families, which may not answer yet; absent where they do not run. */
  readonly families?: FamilyUrls | undefined
}

/** A service's ports by use; each is the next free one from its first choice on. */
export type ServicePorts = Readonly<Record<string, number>>

/** Plan by which one service process of a local network is started. */
export type ServicePlan = {
  /** Name of the process, its log file and its messages. */
  readonly name: string
  /** One line for people: what it is, and whether it is the real thing. */
  readonly about: string
  /** From the repository's root. */
  readonly script: string
  /** First choice of each port. */
  ports(firstPorts: FirstPorts): ServicePorts
  environment(context: ServiceContext, ports: ServicePorts): Promise<Readonly<Record<string, string>>>
  /** Answers 200 when the service takes requests. */
  readyUrl(ports: ServicePorts): string
}

/** First ports of each kind of service. */
export type FirstPorts = { readonly quote: number; readonly oracle: number }

/** Every service of a local network. They start side by side; a further one is one entry here. */
export const servicePlans: readonly ServicePlan[] = [quoteApiPlan, ...oraclePlans, solverPlan, allocatorPlan]
