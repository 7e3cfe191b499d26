// One line per kind that our manifests use. Validators and types are made of the OpenAPI document of Kubernetes.
import { Deployment, type IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import { type IStatefulSet, StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet'
import { type INetworkPolicy, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import {
  type IPodDisruptionBudget,
  PodDisruptionBudget,
} from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { type INamespace, Namespace } from 'kubernetes-models/v1/Namespace'
import { type IService, Service } from 'kubernetes-models/v1/Service'

/** Allowed kinds of a manifest, by `apiVersion/kind`; `findUnknownFields` reads it as a type. */
export type KubernetesKinds = {
  'apps/v1/Deployment': IDeployment
  'apps/v1/StatefulSet': IStatefulSet
  'networking.k8s.io/v1/NetworkPolicy': INetworkPolicy
  'policy/v1/PodDisruptionBudget': IPodDisruptionBudget
  'v1/Namespace': INamespace
  'v1/Service': IService
}

type Validated = { validate(): void }

/** An empty object of each kind, whose `validate` throws a sentence with the path of what is wrong. */
export const emptyKinds: Readonly<Record<keyof KubernetesKinds, () => Validated>> = {
  'apps/v1/Deployment': () => new Deployment(),
  'apps/v1/StatefulSet': () => new StatefulSet(),
  'networking.k8s.io/v1/NetworkPolicy': () => new NetworkPolicy(),
  'policy/v1/PodDisruptionBudget': () => new PodDisruptionBudget(),
  'v1/Namespace': () => new Namespace(),
  'v1/Service': () => new Service(),
}
