//! The rules as values of one type, which a model keeps in its file.

use super::attracted::Attracted;
use super::barycenter::Barycenter;
use super::features::Features;
use super::gower::Gower;
use super::latent::Latent;
use super::linear::Linear;
use super::nystrom::Nystrom;
use super::on_line::OnLine;
use super::process::Process;
use super::stress::Stress;
use super::tangent::Tangent;
use super::{Extension, Own};
use serde::{Deserialize, Serialize};

/// Defines [`Rule`] from one word for each rule: its type.
macro_rules! rules {
    ($($rule:ident),* $(,)?) => {
        /// The rule by which a fitted method embeds new points.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[allow(private_interfaces, reason = "the rules of this library are made by its methods")]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc(hidden)] $rule($rule),)*
            /// A rule from outside of this library; its models cannot be saved.
            #[serde(skip)]
            Own(Own),
        }

        $(impl From<$rule> for Rule {
            fn from(rule: $rule) -> Rule {
                Rule::$rule(rule)
            }
        })*

        impl Rule {
            pub(crate) fn inner(&self) -> &dyn Extension {
                match self {
                    $(Rule::$rule(rule) => rule,)*
                    Rule::Own(own) => own.inner(),
                }
            }

            /// The rule to be changed; `None` for one from outside that is shared.
            pub(crate) fn inner_mut(&mut self) -> Option<&mut dyn Extension> {
                match self {
                    $(Rule::$rule(rule) => Some(rule),)*
                    Rule::Own(own) => own.inner_mut(),
                }
            }
        }
    };
}

// A new rule goes last, because saved models store its number.
rules!(Linear, Gower, Barycenter, Nystrom, Tangent, Stress, Attracted, Latent, Features, Process, OnLine);

impl Rule {
    /// The weights that reconstruct a new point from its neighbors apply to its coordinates, as in LLE, with this share of
    /// the local trace added to the diagonal.
    pub fn barycenter(regularization: f64) -> Rule {
        Barycenter { regularization, landmarks: None }.into()
    }

    /// A rule from outside of this library.
    pub fn own(rule: impl Extension + 'static) -> Rule {
        Rule::Own(Own::new(rule))
    }
}
