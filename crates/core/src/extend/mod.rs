//! Out-of-sample extension: every method embeds new points, row by row, by the rule that follows from its definition.
//!
//! A row that equals a training row gets that row's coordinates (those of the first such row, if there are several).
//!
//! | rule | methods | the coordinates of a new point x |
//! |---|---|---|
//! | `Linear` | pca, mds of points | `(x − x̄) U` |
//! | `Gower` | mds, kernel-pca, isomap, ppco, pkpca | `½ Σᵢ (r[i] − δ²[i]) y[i] / λ`, δ the distances from x (Gower 1968) |
//! | | | isomap above 2048 points: nearly that, from the geodesics to a sample of them (`sampled.rs`) |
//! | `Features` | ppco, pkpca with landmarks | `Σⱼ k(x, z[j]) a[j] − b`, z the landmarks |
//! | `Latent` | ppca, fa | `E[z | x]`, its latent coordinates given what was observed of it |
//! | `Barycenter` | lle, modified-lle, alle, meu, mvu, drill | `Σⱼ w[j] y[j]`, w the weights that reconstruct x from
//! its neighbors |
//! | `Tangent` | ltsa, hessian-lle | the affine map of the neighbors' tangent space that fits their coordinates |
//! | `Nystrom` | laplacian-eigenmaps, diffusion-maps | `Σⱼ w[j] y[j] / Σⱼ w[j] (1 − λ)`, its own eigen-equation (Nyström) |
//! | `Process` | gplvm | where its row is most likely, given the rows and the positions of all training points |
//! | `OnLine` | gplvm with the kernel ou | where on the line its row is most likely, given the rows on both sides |
//! | `Attracted` | tsne, sne, symmetric-sne, umap, elastic | `argmin` of the objective with all other points fixed |
//! | `Stress` | smacof, sammon | `argmin Σᵢ w[i] (δ[i] − ‖y − y[i]‖)²`, the objective with all other points fixed |
//!
//! A rule is one file with one implementation of [`Extension`], and its lines in this one: its module, and its type in the list.

mod attracted;
mod barycenter;
mod batches;
mod checks;
mod extension;
mod features;
mod gower;
mod homes;
mod latent;
mod linear;
mod nystrom;
mod on_line;
mod process;
mod reference;
mod rule;
mod sampled;
mod standard_deviation;
mod stress;
mod tangent;
mod taper;

pub(crate) use attracted::{AffinityRule, Attracted, RepulsionForm};
pub(crate) use barycenter::Barycenter;
pub use batches::{Batch, Newcomer};
use extension::Own;
pub use extension::{Extension, Known, Sizes, Traits, TransformFn, Transformed};
pub(crate) use features::Features;
pub(crate) use gower::Gower;
pub(crate) use latent::Observed;
pub use latent::{Latent, Posterior};
pub(crate) use linear::Linear;
pub(crate) use nystrom::{Form, Nystrom};
pub(crate) use on_line::OnLine;
pub(crate) use process::{Mapping, Process};
pub(crate) use reference::{Away, Measure};
pub(crate) use rule::{Among, Inverse, PreparedRule};
pub(crate) use stress::Stress;
pub(crate) use tangent::Tangent;

use rule::rules;
use serde::{Deserialize, Serialize};

// The rules, by their types. A new one goes last, because saved models store its number.
rules!(Linear, Gower, Barycenter, Nystrom, Tangent, Stress, Attracted, Latent, Features, Process, OnLine);

/// The number of training points whose neighbor distances are sampled.
const SAMPLED: usize = 256;
/// A new point is far if it is beyond this many times the usual distance among the training points.
const FAR: f64 = 2.0;
/// The number of training rows that are embedded anew if each requires an optimization.
const DESCENTS: usize = 300;
