import type { Check, Finding, RepositoryFile } from '../finding.ts'
import { composePath, composeProblems } from './compose.ts'
import { readManifests } from './manifests.ts'
import { networkProblems } from './network.ts'
import { podProblems } from './pods.ts'
import { readServices } from './services.ts'

/** Checks compose and Kubernetes files against the images, without an engine or a cluster. */
export const deploymentCheck: Check = { name: 'deployment', find: findProblems }

function findProblems(files: readonly RepositoryFile[]): readonly Finding[] {
  const services = readServices(files)
  const { bundles, findings } = readManifests(files)
  const compose = files.filter(({ path }) => path === composePath)
  return [
    ...findings,
    ...bundles.flatMap((bundle) => [
      ...bundle.workloads.flatMap((workload) =>
        podProblems(bundle, workload, services).map((problem) => ({ file: workload.file, problem })),
      ),
      ...networkProblems(bundle),
    ]),
    ...compose.flatMap((file) =>
      composeProblems(file, services).map((problem) => ({ file: file.path, problem })),
    ),
    // A service that nobody runs is one that somebody forgot.
    ...[...services.ports.keys()].flatMap((service) => {
      const runs = bundles.some(({ workloads }) =>
        workloads.some(({ metadata }) => metadata.name === service),
      )
      return runs ? [] : [{ file: 'docker/kubernetes', problem: `no manifest runs ${service}` }]
    }),
  ]
}
